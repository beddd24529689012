"""The first command of the README: the situation on this machine, its failure, the pipeline working through the map."""
