"""The tables that records are joined with: read strictly, copied, versioned."""
