"""The gate: what becomes of a judged call, who is asked, and what an answer holds for."""
