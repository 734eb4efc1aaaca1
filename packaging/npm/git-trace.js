#!/usr/bin/env node
// Runs the binary of the package for this platform, which npm installed as an optional dependency.
"use strict";

const { spawnSync } = require("node:child_process");

const musl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
const libc = process.platform === "linux" ? (musl ? "-musl" : "-glibc") : "";
const name = `@git-trace/${process.platform}-${process.arch}${libc}`;
const binary = process.platform === "win32" ? "git-trace.exe" : "git-trace";

let path;
try {
  path = require.resolve(`${name}/bin/${binary}`);
} catch {
  console.error(`git-trace: the package ${name} is not installed; install git-trace again without --omit=optional`);
  process.exit(2);
}
const { status, signal, error } = spawnSync(path, process.argv.slice(2), { stdio: "inherit" });
if (error) throw error;
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
