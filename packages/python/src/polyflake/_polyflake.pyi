# The compiled module. Its parts are described where they are public: sno.pyi.
from polyflake import sno as sno

__all__ = ["__version__", "sno"]

__version__: str
