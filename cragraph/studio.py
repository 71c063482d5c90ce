"""The compiled graphs that `langgraph.json` names.

Compiled without a checkpointer: the server brings its own. The store is opened by the first question.
"""

from cragraph.api import create_chat, create_graph, create_verifier
from cragraph.settings import load_settings

_settings = load_settings()

crag = create_graph(_settings).compile(name="crag")
verify = create_verifier(_settings).compile(name="verify")
chat = create_chat(_settings).compile(name="chat")
