"""Gradient flow of alignments and overlaps: steps, records, and what a trajectory shows."""
