"""Worlds that the doctor was not prepared for, as a table, and what an expert demands of its report."""
