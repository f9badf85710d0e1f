"""What `benches/peers` measures: one module for each peer, and what they share in `common`."""
