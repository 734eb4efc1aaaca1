"""An agent that keeps its context in git and sends it to a provider. It needs only the standard library.

    python3 agent.py TRACE QUESTION [FORMAT]

`git trace commit --batch` runs as a coprocess: it reads one item per line and answers each when it is committed, so an item
starts no process. `git trace materialize` prints the request in the provider's format. This example does not call a model:
it answers itself, with one tool call. Put your client in `ask`.
"""

import json
import subprocess
import sys


class Trace:
    """A trace of the repository in the working folder."""

    def __init__(self, name):
        self.name = name
        command = ["git", "trace", "--trace", name, "commit", "--batch"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def commit(self, **item):
        """Commits an item; returns its id."""
        self.process.stdin.write(json.dumps(item) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["id"]

    def request(self, form, budget=None):
        """The messages of a request, in the provider's format."""
        command = ["git", "trace", "materialize", self.name, "--format", form]
        if budget:
            command += ["--budget", str(budget)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def ask(request):
    """Call the model here: `client.messages.create(**request, model=…)`."""
    said = json.dumps(request)
    if "tool_result" not in said and "functionResponse" not in said and '"tool"' not in said and "_output" not in said:
        return {"call_id": "call_1", "name": "word_count", "arguments": json.dumps({"text": "to be or not to be"})}
    return {"text": "That is six words."}


def main(name, question, form="anthropic"):
    trace = Trace(name)
    trace.commit(type="instruction", name="manner", text="Answer in one sentence.")
    trace.commit(type="dialogue", role="user", text=question)
    while True:
        answer = ask(trace.request(form, budget=100_000))
        if "call_id" not in answer:
            break
        call, tool = {"type": "tool_io", "call_id": answer["call_id"]}, answer["name"]
        trace.commit(**call, direction="call", name=tool, text=answer["arguments"])
        count = len(json.loads(answer["arguments"])["text"].split())
        trace.commit(**call, direction="result", name=tool, status="ok", text=str(count))
    trace.commit(type="dialogue", role="assistant", text=answer["text"])
    print(answer["text"])
    return trace.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
