# Installs git-trace for this user on Windows.
#
#   powershell -c "irm https://github.com/git-trace/git-trace/releases/latest/download/install.ps1 | iex"
#
# Settings, as environment variables: GIT_TRACE_PREFIX (default $HOME\.local), GIT_TRACE_VERSION (default the newest release)
$ErrorActionPreference = "Stop"

$prefix = if ($env:GIT_TRACE_PREFIX) { $env:GIT_TRACE_PREFIX } else { Join-Path $HOME ".local" }
$releases = "https://github.com/git-trace/git-trace/releases"
$source = if ($env:GIT_TRACE_VERSION) { "$releases/download/v$env:GIT_TRACE_VERSION" } else { "$releases/latest/download" }
$cpu = if ($env:PROCESSOR_ARCHITECTURE -eq "ARM64") { "aarch64" } else { "x86_64" }
$name = "git-trace-$cpu-pc-windows-msvc"

$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    foreach ($file in "$name.zip", "$name.zip.sha256") {
        Invoke-WebRequest -UseBasicParsing "$source/$file" -OutFile (Join-Path $work $file)
    }
    $expected = (Get-Content (Join-Path $work "$name.zip.sha256")).Split(" ")[0]
    $actual = (Get-FileHash -Algorithm SHA256 (Join-Path $work "$name.zip")).Hash
    if ($actual -ne $expected) { throw "$name.zip does not have the published checksum" }
    Expand-Archive (Join-Path $work "$name.zip") $work
    New-Item -ItemType Directory -Force -Path $prefix | Out-Null
    Copy-Item -Recurse -Force (Join-Path $work "$name\*") $prefix
} finally {
    Remove-Item -Recurse -Force $work
}

$bin = Join-Path $prefix "bin"
& (Join-Path $bin "git-trace.exe") --version
$path = [Environment]::GetEnvironmentVariable("Path", "User")
if (($path -split ";") -notcontains $bin) {
    [Environment]::SetEnvironmentVariable("Path", "$path;$bin", "User")
    Write-Output "Added $bin to Path. Open a new terminal, then try it: git trace demo"
} else {
    Write-Output "Try it: git trace demo"
}
