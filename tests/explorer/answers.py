"""Pictures, as the page gets them."""

import json

import numpy as np


def unpack(body):
    size = int.from_bytes(body[:4], "little")
    header, start, arrays = json.loads(body[4 : 4 + size]), 4 + size, []
    for one in header["arrays"]:
        kind = {"float32": "<f4", "uint32": "<u4"}[one["type"]]
        arrays.append(np.frombuffer(body, kind, one["length"], start))
        start += 4 * one["length"]
    assert start == len(body)
    return header, arrays
