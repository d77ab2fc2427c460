"""The learned gate: a calibrated probability that the evidence found suffices to answer the question."""
