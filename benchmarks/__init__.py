"""Speed and memory of headflow beside hand-written JAX; `python -m benchmarks.run`."""
