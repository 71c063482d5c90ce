"""The usual corrective graph of the tutorials, written down plainly, to stand beside cragraph's.

Retrieve four passages, grade each by a call, rewrite the question when none is relevant, generate, grade the answer
against the passages by a call (generate again when it is not grounded), grade it against the question by a call
(rewrite the question when it does not answer), and so on until both say yes. Calls are made one after the other, and
the model's settings are those of the tutorials: temperature 0, structured output with a binary score.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from langchain_core.prompts import ChatPromptTemplate
from langchain_ollama import ChatOllama
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, Field

Search = Callable[[str], Sequence[str]]


class Grade(BaseModel):
    """Binary score."""

    binary_score: str = Field(description="'yes' or 'no'")


class State(TypedDict, total=False):
    """What the tutorials keep."""

    question: str
    documents: list[str]
    generation: str
    tries: int


RELEVANT = "You are a grader assessing relevance of a retrieved document to a user question. If the document contains \
keywords or semantic meaning related to the question, grade it as relevant. Give a binary score 'yes' or 'no'."
GROUNDED = "You are a grader assessing whether an LLM generation is grounded in, or supported by, a set of retrieved \
facts. Give a binary score 'yes' or 'no'. 'yes' means that the answer is grounded in the facts."
USEFUL = "You are a grader assessing whether an answer addresses a question. Give a binary score 'yes' or 'no'. 'yes' \
means that the answer resolves the question."
ANSWER = "You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer \
the question. If you don't know the answer, just say that you don't know. Use three sentences maximum and keep the \
answer concise."
REWRITE = "Rewrite the question so that it is better suited to vectorstore retrieval."
MOST_TRIES = 3


def tutorial_graph(url: str, model: str, search: Search) -> Any:
    """The compiled graph; `search` gives the four best passages for a question."""
    llm = ChatOllama(model=model, base_url=url, temperature=0, num_ctx=8192)

    def grader(system: str, human: str) -> Any:
        prompt = ChatPromptTemplate.from_messages([("system", system), ("human", human)])
        return prompt | llm.with_structured_output(Grade)

    relevant = grader(RELEVANT, "Retrieved document:\n{document}\n\nQuestion: {question}")
    grounded = grader(GROUNDED, "Documents:\n{documents}\n\nGeneration: {generation}")
    useful = grader(USEFUL, "Question: {question}\n\nGeneration: {generation}")
    answer = ChatPromptTemplate.from_messages(
        [("human", ANSWER + "\nQuestion: {question}\nContext: {context}\nAnswer:")]
    )
    rewrite = ChatPromptTemplate.from_messages([("human", REWRITE + "\nQuestion: {question}")])

    def retrieve(state: State) -> State:
        return {"documents": list(search(state["question"]))}

    def grade_documents(state: State) -> State:
        ask = {"question": state["question"]}
        kept = [d for d in state["documents"] if relevant.invoke({**ask, "document": d}).binary_score == "yes"]
        return {"documents": kept}

    def generate(state: State) -> State:
        context = "\n\n".join(state["documents"])
        written = (answer | llm).invoke({"question": state["question"], "context": context})
        return {"generation": str(written.content), "tries": state.get("tries", 0) + 1}

    def transform_query(state: State) -> State:
        return {"question": str((rewrite | llm).invoke({"question": state["question"]}).content)}

    def decide_to_generate(state: State) -> str:
        return "generate" if state["documents"] else "transform_query"

    def grade_generation(state: State) -> str:
        if state["tries"] >= MOST_TRIES:
            return "useful"
        facts = {"documents": "\n\n".join(state["documents"]), "generation": state["generation"]}
        if grounded.invoke(facts).binary_score != "yes":
            return "not supported"
        asked = {"question": state["question"], "generation": state["generation"]}
        return "useful" if useful.invoke(asked).binary_score == "yes" else "not useful"

    graph = StateGraph(State)
    for node in (retrieve, grade_documents, generate, transform_query):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade_documents")
    graph.add_conditional_edges("grade_documents", decide_to_generate, ["generate", "transform_query"])
    graph.add_edge("transform_query", "retrieve")
    routes = {"not supported": "generate", "useful": END, "not useful": "transform_query"}
    graph.add_conditional_edges("generate", grade_generation, routes)
    return graph.compile().with_config(recursion_limit=40)
