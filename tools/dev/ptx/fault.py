"""What a chip would refuse, or this interpreter does not know."""


class Fault(Exception):
    """Ends the run of a kernel; says why in a sentence."""
