"""Brings the address map of `brokernat exec` into kafka-python and aiokafka; Python imports this file at its start.

It runs in the interpreter of any program, so it does next to nothing: it waits for `import kafka` or `import
aiokafka`, and only then looks for brokernat, from the folder that this file stands in, under its own name alone:
nothing else of our environment becomes visible, and a brokernat that the program has itself is left to it. Whatever
does not work is one line on stderr, and the program goes on as it would without us.

A `sitecustomize` that was there before (Debian has one, and so do test and coverage tools) is run as if this one did
not stand in front of it. The syntax is kept to Python 3.6, because an older Python must be able to say that it is too
old, and `os.path` stands for `pathlib`, which would cost every start of a Python its import.
"""

# ruff: noqa: PTH100, PTH118, PTH120
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_MODULES = {"kafka": "brokernat.clients.kafka_python_network", "aiokafka": "brokernat.clients.aiokafka_network"}
_OLDEST = (3, 11)


class _AtImport:
    """Finds the two libraries as everybody else would, and is called back when one of them has run."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """The spec that another finder has, its loader extended by one call."""
        if name not in _MODULES:
            return None
        finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path if finder is not _AtImport)
        spec = next(filter(None, (find(name, path, target) for find in finders if find)), None)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            _extend(spec)
        return spec


def _extend(spec: ModuleSpec) -> None:
    loader = spec.loader
    run = loader.exec_module  # type: ignore[union-attr]

    def exec_module(module):
        run(module)
        _bring_map(module)

    # A loader belongs to one spec; everything else of it stays as it is.
    loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]


def _bring_map(module):
    name = module.__name__
    try:
        if sys.version_info < _OLDEST:
            raise RuntimeError("needs Python {}.{} or newer".format(*_OLDEST))
        _make_importable()
        from brokernat.address import AddressMap, Unmapped

        unmapped = Unmapped(os.environ.get("BROKERNAT_UNMAPPED", "fail"))
        address_map = AddressMap.parse(os.environ["BROKERNAT_MAP"], unmapped)
        importlib.import_module(_MODULES[name]).wrap_classes(module, address_map)
    except Exception as error:  # noqa: BLE001 - a guest does not end its host
        version = ".".join(map(str, sys.version_info[:3]))
        sys.stderr.write(f"[brokernat] no address map for {name} in Python {version}: {error}\n")


def _make_importable() -> None:
    if importlib.util.find_spec("brokernat") is not None:
        return
    initial = os.path.join(_PACKAGE, "__init__.py")
    spec = importlib.util.spec_from_file_location("brokernat", initial, submodule_search_locations=[_PACKAGE])
    assert spec is not None and spec.loader is not None  # noqa: PT018, S101
    module = importlib.util.module_from_spec(spec)
    sys.modules["brokernat"] = module
    spec.loader.exec_module(module)


def _run_the_next_one() -> None:
    """The `sitecustomize` that Python would have imported without us."""
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("BROKERNAT_MAP"):
    sys.meta_path.insert(0, _AtImport)
_run_the_next_one()
