"""Averages over tokens by quadrature: where nodes come from, and how a risk is put together."""
