"""For all tests of model files."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
