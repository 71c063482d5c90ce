"""The compiled graphs that `langgraph.json` names.

Compiled without a checkpointer: the server brings its own. The store is opened by the first question, not here, so
that the server starts at once and without a store too.
"""

from cragraph.build import create_graph, create_verifier
from cragraph.settings import load_settings

_settings = load_settings()

crag = create_graph(_settings).compile(name="crag")
verify = create_verifier(_settings).compile(name="verify")
