"""A materializer of one's own: `git config trace.materializer "python3 brief_materializer.py"`.

It gets the items that are not left out on stdin, one JSON object a line, and prints what the model is to see; here, calls of
tools are told in a line each and their results in their first line.
"""

import json
import sys

for line in sys.stdin:
    item = json.loads(line)
    text = item.get("text", "(bytes)")
    if item["type"] == "tool_io":
        first = text.split("\n", 1)[0]
        print(f"[{item['direction']} {item.get('name', item['call_id'])}] {first}")
    elif item["type"] != "reasoning":
        print(f"[{item.get('role', item['type'])}] {text}")
