"""The library of trireme with CUDA 13, in lib/; trireme finds it here."""
