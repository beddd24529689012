"""What is done to the records of a pipeline, a module each; `plan.py` folds them into frames."""
