"""One file a check: evidence in, findings out. A check opens nothing and knows no other check but by its code."""
