"""Sweeping structure: chunks, embedder, fusion, reranker; each combination recorded once, its thresholds tuned inside."""
