// Passes each session to git-trace when a turn ends. `git trace uninstall --agent opencode` removes this file.
import { spawnSync } from "node:child_process"

export const GitTrace = async ({ client, directory }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    try {
      const path = { id: event.properties.sessionID }
      const { data: info } = await client.session.get({ path })
      const { data: messages } = await client.session.messages({ path })
      const input = { session_id: path.id, parent_id: info.parentID, hook_event_name: "Stop", transcript: { info, messages } }
      // It returns within a second. opencode may end before a program that it does not wait for has read its input.
      const options = { cwd: directory, input: JSON.stringify(input), encoding: "utf8", timeout: 5000, windowsHide: true }
      const { stdout } = spawnSync(PROGRAM, ["hook", "opencode"], options)
      if (!stdout) return
      const message = JSON.parse(stdout).systemMessage
      await client.tui.showToast({ body: { title: "git-trace", message, variant: "info", duration: 15000 } })
    } catch {
      // Recording never disturbs opencode.
    }
  },
})
