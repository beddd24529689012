"""The steps of a pipeline, one module each; `plan.py` combines them into DataFrames."""
