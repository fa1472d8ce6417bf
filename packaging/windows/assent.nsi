; Assent for Windows: put in for one person, without an administrator's rights.
;
; dev.py package windows starts it so:
;   makensis -DVERSION=… -DNUMBERS=N.N.N.N -DPARTS=FILE -DTREE=DIR -DOUT=FILE [-DSIGN="COMMAND"] …/assent.nsi
; TREE is what is put in. PARTS has a macro with the names at its top: nothing else is ever removed from the folder that
; a person chose. SIGN is started with the file to sign behind it, for the uninstaller and for the installer.

Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
ManifestDPIAware true
ManifestSupportedOS all
RequestExecutionLevel user
AllowSkipFiles off
CRCCheck force

!include "MUI2.nsh"
!include "LogicLib.nsh"
!include "WinVer.nsh"
!include "${PARTS}"

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Assent"
!define LINKS "Software\Classes\assent"
!define MARK "assent.installed"

Name "Assent"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Assent"
InstallDirRegKey HKCU "Software\Assent" "Folder"
BrandingText "Assent ${VERSION}"
VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Assent"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Assent"
VIAddVersionKey "LegalCopyright" "The authors of Assent"

!define MUI_ICON "assent.ico"
!define MUI_UNICON "assent.ico"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\pythonw.exe"
!define MUI_FINISHPAGE_RUN_PARAMETERS "-I -m desktop"
!define MUI_UNCONFIRMPAGE_TEXT_TOP "Assent is taken out. Your chats, settings and skills in the folder .agent stay."
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

!ifdef SIGN
  !uninstfinalize '${SIGN} "%1"' = 0
  !finalize '${SIGN} "%1"' = 0
!endif

; A program of the folder that runs cannot be opened to be written.
!macro STOP_WHILE_IT_RUNS
  ${If} ${FileExists} "$INSTDIR\pythonw.exe"
    ClearErrors
    FileOpen $0 "$INSTDIR\pythonw.exe" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONSTOP "Assent is running. Quit it, then start this again." /SD IDOK
      SetErrorLevel 3
      Quit
    ${EndIf}
    FileClose $0
    ClearErrors
    FileOpen $0 "$INSTDIR\python.exe" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONSTOP "A part of Assent is running. Quit Assent, and what uses it, then start this again." /SD IDOK
      SetErrorLevel 3
      Quit
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

Function .onInit
  ${IfNot} ${AtLeastWin10}
    MessageBox MB_OK|MB_ICONSTOP "Assent needs Windows 10 or newer." /SD IDOK
    SetErrorLevel 4
    Quit
  ${EndIf}
FunctionEnd

; A folder that has anything in it and is not ours could lose it at the next upgrade: it is refused.
Function FolderIsOurs
  ${If} ${FileExists} "$INSTDIR\${MARK}"
    Return
  ${EndIf}
  FindFirst $0 $1 "$INSTDIR\*.*"
  ${DoWhile} $1 != ""
    ${If} $1 != "."
    ${AndIf} $1 != ".."
      FindClose $0
      MessageBox MB_OK|MB_ICONSTOP "$INSTDIR is not empty. Choose an empty or a new folder." /SD IDOK
      SetErrorLevel 5
      Quit
    ${EndIf}
    FindNext $0 $1
  ${Loop}
  FindClose $0
FunctionEnd

Section "Assent"
  Call FolderIsOurs
  !insertmacro STOP_WHILE_IT_RUNS
  ; Of an earlier version that program takes out what it put in, because it alone knows the names.
  ${If} ${FileExists} "$INSTDIR\uninstall.exe"
    InitPluginsDir
    CopyFiles /SILENT "$INSTDIR\uninstall.exe" "$PLUGINSDIR\earlier.exe"
    ClearErrors
    ExecWait '"$PLUGINSDIR\earlier.exe" /S /UPGRADE _?=$INSTDIR' $0
    ${If} ${Errors}
    ${OrIf} $0 != 0
      MessageBox MB_OK|MB_ICONSTOP "The earlier version could not be taken out. Quit Assent, then start this again." /SD IDOK
      SetErrorLevel 6
      Quit
    ${EndIf}
  ${EndIf}
  CreateDirectory "$INSTDIR"
  FileOpen $0 "$INSTDIR\${MARK}" w
  FileWrite $0 "${VERSION}"
  FileClose $0
  WriteUninstaller "$INSTDIR\uninstall.exe"
  SetOutPath "$INSTDIR"
  File /r "${TREE}/*"
  SetOutPath "$INSTDIR"
  CreateShortcut "$SMPROGRAMS\Assent.lnk" "$INSTDIR\pythonw.exe" "-I -m desktop open --" "$INSTDIR\assent.ico"
  ; A link is one word behind `--`: whatever stands in it, it is read as a link, and links only show a place.
  WriteRegStr HKCU "${LINKS}" "" "URL:Assent"
  WriteRegStr HKCU "${LINKS}" "URL Protocol" ""
  WriteRegStr HKCU "${LINKS}\DefaultIcon" "" "$INSTDIR\assent.ico"
  WriteRegStr HKCU "${LINKS}\shell\open\command" "" '"$INSTDIR\pythonw.exe" -I -m desktop open -- "%1"'
  WriteRegStr HKCU "Software\Assent" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "DisplayName" "Assent"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\assent.ico"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  ${IfNot} ${FileExists} "$INSTDIR\${MARK}"
    MessageBox MB_OK|MB_ICONSTOP "$INSTDIR is not a folder that Assent was put into. Nothing was removed." /SD IDOK
    SetErrorLevel 5
    Quit
  ${EndIf}
  !insertmacro STOP_WHILE_IT_RUNS
  !insertmacro REMOVE_PARTS
  Delete "$INSTDIR\uninstall.exe"
  Delete "$INSTDIR\${MARK}"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Assent.lnk"
  ; Another Assent may have taken these over since.
  ReadRegStr $0 HKCU "${LINKS}\shell\open\command" ""
  ${If} $0 == '"$INSTDIR\pythonw.exe" -I -m desktop open -- "%1"'
    DeleteRegKey HKCU "${LINKS}"
  ${EndIf}
  ReadRegStr $0 HKCU "${KEY}" "InstallLocation"
  ${If} $0 == $INSTDIR
    DeleteRegKey HKCU "${KEY}"
    DeleteRegKey HKCU "Software\Assent"
  ${EndIf}
SectionEnd
