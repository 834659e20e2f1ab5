"""An interpreter of the PTX that the compiler prints for NVIDIA chips."""
