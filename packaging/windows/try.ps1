# On Windows: installs the installer in a folder, starts what it put in, takes it out, and says what is wrong.
# usage: try.ps1 DIR
param([Parameter(Mandatory)] [string] $Folder)
$ErrorActionPreference = 'Stop'

$place = Join-Path $env:LOCALAPPDATA 'Programs\Assent'
$found = @(Get-ChildItem -Path $Folder -Filter '*-windows-x86_64.exe')
if ($found.Count -ne 1) { throw "$Folder has not one installer" }

function Invoke-Silently([string] $Program, [string[]] $Words) {
    $run = Start-Process -FilePath $Program -ArgumentList $Words -Wait -PassThru
    if ($run.ExitCode -ne 0) { throw "$Program ended with $($run.ExitCode)" }
}

$kept = Join-Path $env:USERPROFILE '.agent\kept'
New-Item -ItemType File -Force -Path $kept | Out-Null
foreach ($round in 'first', 'over itself') {
    Invoke-Silently $found[0].FullName '/S'
    foreach ($words in @('--version'), @('--check'), @('--exit-after-paint', '--home', (Join-Path $env:TEMP 'assent-try'))) {
        & (Join-Path $place 'assent.cmd') @words
        if ($LASTEXITCODE -ne 0) { throw "${round}: assent $words ended with $LASTEXITCODE" }
    }
}
$link = (Get-Item 'HKCU:\Software\Classes\assent\shell\open\command').GetValue('')
if ($link -ne "`"$place\pythonw.exe`" -I -m desktop open -- `"%1`"") { throw "links start $link" }

Invoke-Silently (Join-Path $place 'uninstall.exe') '/S'
$until = (Get-Date).AddMinutes(2)
while ((Test-Path $place) -and (Get-Date) -lt $until) { Start-Sleep -Milliseconds 200 }
if (Test-Path $place) { throw "$place is still there" }
if (Test-Path 'HKCU:\Software\Classes\assent') { throw 'links still lead to it' }
if (-not (Test-Path $kept)) { throw 'the home is gone' }
