"""A custom materializer: `git config trace.materializer "python3 brief_materializer.py"`.

It reads the selected items on stdin, one JSON object per line, and prints what the model sees. This one shortens each tool
call and each tool result to one line.
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
