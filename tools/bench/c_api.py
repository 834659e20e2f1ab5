"""The library's C API, as the scripts that time it call it."""

import ctypes


class Library:
    """A handle on the device that PyTorch uses."""

    def __init__(self, path):
        self.api = ctypes.CDLL(str(path))
        self.api.tesseraGetLastErrorMessage.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.call("miopenCreate", ctypes.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.api, name)(*arguments)
        if status:
            message = self.api.tesseraGetLastErrorMessage().decode()
            raise RuntimeError(f"{name}: status {status}: {message}")

    def set_stream(self, torch):
        """Sets the handle's stream to PyTorch's current one."""
        stream = torch.cuda.current_stream().cuda_stream
        self.call("miopenSetStream", self.handle, ctypes.c_void_p(stream))
