"""Imports OpenVINO without its converter of other formats."""

import sys
from types import ModuleType

__all__ = ["import_openvino"]

_CONVERTER = "openvino.tools.ovc"


def import_openvino() -> ModuleType:
    """Returns the package. Its converter is not imported: it doubles the time, and loads a module for telemetry.

    OpenVINO goes on without a converter that cannot be imported. Who needs it can import it afterwards.
    """
    blocked = _CONVERTER not in sys.modules
    if blocked:
        sys.modules[_CONVERTER] = None  # type: ignore[assignment]  # how Python refuses the import of a module
    try:
        import openvino
        import openvino.opset13
    finally:
        if blocked:
            del sys.modules[_CONVERTER]
    module: ModuleType = openvino
    return module
