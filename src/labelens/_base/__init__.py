"""Foundations: arrays and devices, compiled loops, threads, files, validation.

No module here knows what a model is.
"""
