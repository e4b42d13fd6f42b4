# Installs ramus for Windows: irm https://github.com/ramus-dev/ramus/releases/latest/download/install.ps1 | iex
# RAMUS_INSTALL_DIR: where the program goes (%LOCALAPPDATA%\Programs\ramus). RAMUS_DOWNLOAD: where the archive comes from.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$from = if ($env:RAMUS_DOWNLOAD) { $env:RAMUS_DOWNLOAD } else { 'https://github.com/ramus-dev/ramus/releases/latest/download' }
$to = if ($env:RAMUS_INSTALL_DIR) { $env:RAMUS_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\ramus' }
$name = 'ramus-x86_64-pc-windows-msvc'
$scratch = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $scratch | Out-Null
try {
    $archive = Join-Path $scratch "$name.zip"
    Invoke-WebRequest "$from/$name.zip" -OutFile $archive -UseBasicParsing
    Invoke-WebRequest "$from/$name.zip.sha256" -OutFile "$archive.sha256" -UseBasicParsing
    $expected = ((Get-Content "$archive.sha256" -Raw) -split '\s+')[0]
    if ((Get-FileHash $archive -Algorithm SHA256).Hash -ne $expected) {
        throw 'the download is damaged: its checksum differs'
    }
    Expand-Archive $archive -DestinationPath $scratch
    New-Item -ItemType Directory -Path $to -Force | Out-Null
    # A running program cannot be replaced, but it can be moved aside.
    $program = Join-Path $to 'ramus.exe'
    if (Test-Path $program) { Move-Item $program "$program.old" -Force }
    Copy-Item (Join-Path $scratch "$name\ramus.exe") $program
    Remove-Item "$program.old" -Force -ErrorAction SilentlyContinue
    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    if (($path -split ';') -notcontains $to) {
        [Environment]::SetEnvironmentVariable('Path', (@($path, $to) | Where-Object { $_ }) -join ';', 'User')
        Write-Output "Added $to to your PATH; open a new terminal to run ramus"
    }
    Write-Output "Installed $(& $program --version) as $program"
} finally {
    Remove-Item $scratch -Recurse -Force
}
