"""Applies the address map of `brokernat exec` to kafka-python and aiokafka; Python imports this file at its start.

It runs in the interpreter of any program, so it does little: it imports brokernat from the folder of this file only
after `import kafka` or `import aiokafka`. No other package of brokernat's environment becomes visible. If the program's
environment has brokernat, that one is used.

If the map cannot be applied (it cannot be read, Python or the library is too old), the library's clients fail with the
reason; otherwise they would send their login to the advertised addresses. A client with its own map is not changed.
`BROKERNAT_UNMAPPED` is `pass` unless set, as for the agent and librdkafka: the program may use other clusters too.

The next `sitecustomize` in `sys.path` (Debian has one, and so do test and coverage tools) is run, too. The syntax is
that of Python 3.6, because an older Python must be able to report that it is too old. `os.path` is used because
importing `pathlib` would slow every start of Python.
"""

# ruff: noqa: PTH100, PTH118, PTH120
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import functools
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_MODULES = {"kafka": "brokernat.clients.kafka_python_network", "aiokafka": "brokernat.clients.aiokafka_network"}
_CLIENTS = {"kafka": ("KafkaProducer", "KafkaConsumer", "KafkaAdminClient"), "aiokafka": ("AIOKafkaClient",)}
# The connection classes of each library, which a program may use directly.
_DIALLING = {
    "kafka": (
        ("kafka.net.manager", "KafkaConnectionManager", "_build_transport"),
        ("kafka.client_async", "KafkaClient", "_init_connect"),
        ("kafka.conn", "BrokerConnection", "_dns_lookup"),
    ),
    "aiokafka": (("aiokafka.conn", "AIOKafkaConnection", "connect"),),
}
_OLDEST = (3, 11)


class _ImportHook:
    """A finder for the two libraries. It uses the other finders, and extends the loader to apply the map."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """The spec of another finder; for the two libraries, with the extended loader."""
        if name not in _MODULES:
            return None
        finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path if finder is not _ImportHook)
        spec = next(filter(None, (find(name, path, target) for find in finders if find)), None)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            _extend(spec)
        return spec


def _extend(spec: ModuleSpec) -> None:
    loader = spec.loader
    run = loader.exec_module  # type: ignore[union-attr]

    def exec_module(module):
        run(module)
        # One zipimporter loads all modules of its archive, so this may be another module.
        if module.__name__ in _MODULES:
            _apply_map(module)

    loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]


def _apply_map(module):
    try:
        if sys.version_info < _OLDEST:
            version = ".".join(map(str, sys.version_info[:3]))
            raise RuntimeError("needs Python {}.{} or newer, this is {}".format(*_OLDEST, version))
        _make_importable()
        importlib.import_module(_MODULES[module.__name__]).wrap_classes(module, _map())
    except Exception as error:  # noqa: BLE001 - an error here must not end the program
        _refuse(module, "; ".join(filter(None, str(error).splitlines())))


def _map():
    from brokernat.address import Unmapped, canonical_text
    from brokernat.map_text import map_from_property

    rules, unmapped = os.environ["BROKERNAT_MAP"], os.environ.get("BROKERNAT_UNMAPPED") or "pass"
    if not rules.strip():
        raise ValueError("BROKERNAT_MAP has no rule and BROKERNAT_UNMAPPED is fail; unset both to use no map")
    if unmapped not in ("fail", "pass"):
        raise ValueError(f"BROKERNAT_UNMAPPED is `fail` or `pass`, not `{unmapped}`")
    address_map = map_from_property(rules, Unmapped(unmapped))
    canonical_text(address_map)
    return address_map


def _refuse(module, reason):
    name = module.__name__
    clients = [getattr(module, client) for client in _CLIENTS[name] if hasattr(module, client)]
    if not clients:
        sys.stderr.write(f"[brokernat] the module {name} is not a known Kafka library; it gets no map\n")
        return
    message = f"refused: the address map of this process (BROKERNAT_MAP) cannot be used for {name}: {reason}"
    sys.stderr.write(f"[brokernat] {message}\n")
    for client in clients:
        (_refuse_to_connect if name == "aiokafka" else _refuse_to_create)(client, message)
    for module_name, class_name, method in _DIALLING[name]:
        try:
            _refuse_to_dial(getattr(importlib.import_module(module_name), class_name), method, message)
        except (ImportError, AttributeError):
            # Another major version of the library.
            continue


def _refuse_to_create(client, message):
    """For kafka-python: clients without their own `kafka_client` fail."""
    original_init = client.__init__

    def refuse(self, *arguments, **options):
        if options.get("kafka_client") is None:
            raise ConnectionRefusedError(message)
        original_init(self, *arguments, **options)

    client.__init__ = refuse


def _refuse_to_connect(client, message):
    """For aiokafka, where a client gets its own map after its creation: `attach` replaces these two methods."""
    original_init = client.__init__

    async def refuse(*_arguments, **_options):
        raise ConnectionRefusedError(message)

    def init_and_refuse(self, *arguments, **options):
        original_init(self, *arguments, **options)
        self.bootstrap = self._get_conn = refuse

    client.__init__ = init_and_refuse


def _refuse_to_dial(connecting, method, message):
    """For connections that a program creates directly; a client with its own map has another method or class."""
    original = getattr(connecting, method)

    @functools.wraps(original)
    def refuse(self, *arguments, **options):
        if type(self).__module__ in _MODULES.values():
            return original(self, *arguments, **options)
        raise ConnectionRefusedError(message)

    setattr(connecting, method, refuse)


def _make_importable() -> None:
    found = importlib.util.find_spec("brokernat")
    # A folder named `brokernat`, such as a clone beside the program, is found as a package without an origin.
    if found is not None and found.origin is not None:
        return
    init_file = os.path.join(_PACKAGE, "__init__.py")
    spec = importlib.util.spec_from_file_location("brokernat", init_file, submodule_search_locations=[_PACKAGE])
    assert spec is not None and spec.loader is not None  # noqa: PT018, S101
    module = importlib.util.module_from_spec(spec)
    sys.modules["brokernat"] = module
    spec.loader.exec_module(module)


def _run_next_sitecustomize() -> None:
    """Runs the `sitecustomize` that Python would import without this one."""
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_rules = os.environ.get("BROKERNAT_MAP")
if _rules is not None and (_rules.strip() or os.environ.get("BROKERNAT_UNMAPPED") == "fail"):
    sys.meta_path.insert(0, _ImportHook)
    # A `.pth` file of the environment may already have imported a library.
    for _name in sorted(_MODULES):
        if _name in sys.modules:
            _apply_map(sys.modules[_name])
_run_next_sitecustomize()
