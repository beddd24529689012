"""From bootstrap servers and endpoints that can be dialled to an address map in which every rule was proven."""
