"""One function over a grid of parameters and seeds, on any number of processes or machines.

Nothing is imported here, since what a worker imports each time it starts should be little.
"""
