"""The mathematics: moments, feature maps, label maps, kernels and solvers.

Solvers see moments only, so they do not depend on the map, the engine or the device.
"""
