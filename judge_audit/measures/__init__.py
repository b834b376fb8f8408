"""Pure numbers: lifts, their intervals, ladders, scales and the purity of axes."""
