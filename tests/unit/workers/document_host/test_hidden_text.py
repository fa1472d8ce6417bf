"""What a person does not see in an Office file is marked for the model, and what they see is not."""

from __future__ import annotations

import pytest

from tests.harness.documents import open_text, paragraph, presentation, relations, run, with_files, word, workbook
from tests.unit.workers.document_host.conftest import Read

pytestmark = [pytest.mark.asyncio, pytest.mark.spec("R-DOC-1")]
WHITE, TINY = '<w:color w:val="FFFFFF"/>', '<w:sz w:val="2"/>'
DARK = '<w:shd w:val="clear" w:fill="1F4E79"/>'
PALE, SMALL, LIKE_GROUND = (
    "Hidden, white on white",
    "Hidden, too small to be read",
    "Hidden, in the colour of what is behind it",
)
AWAY, CLEAR = "Hidden, outside the page", "Hidden, transparent"


def styled(kind: str, looks: str, more: str = "") -> str:
    return f'<w:style w:type="{kind}" w:styleId="S" {more}><w:rPr>{looks}</w:rPr></w:style>'


def in_style(kind: str) -> str:
    return paragraph('<w:pPr><w:pStyle w:val="S"/></w:pPr>' if kind == "paragraph" else "", run("x", used(kind)))


def used(kind: str) -> str:
    return '<w:rStyle w:val="S"/>' if kind == "character" else ""


WORD_STYLES = [
    (styled("character", WHITE), in_style("character"), PALE),
    (styled("paragraph", WHITE), in_style("paragraph"), PALE),
    (styled("paragraph", TINY), in_style("paragraph"), SMALL),
    (styled("paragraph", WHITE, 'w:default="1"'), paragraph(run("x")), PALE),
    ("<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>", in_style(""), "Hidden"),
    (
        styled("paragraph", "").replace("<w:rPr>", '<w:basedOn w:val="B"/><w:rPr>')
        + f'<w:style w:type="paragraph" w:styleId="B"><w:rPr>{WHITE}</w:rPr></w:style>',
        in_style("paragraph"),
        PALE,
    ),
    (styled("paragraph", "<w:vanish/>"), in_style("paragraph").replace("<w:rPr>", '<w:rPr><w:vanish w:val="0"/>'), ""),
    (styled("paragraph", WHITE), in_style("paragraph").replace("<w:rPr>", f"<w:rPr>{DARK}"), ""),
]


@pytest.mark.parametrize(("styles", "body", "why"), WORD_STYLES)
async def test_word_hides_by_styles(read: Read, styles: str, body: str, why: str) -> None:
    files = {"word/styles.xml": f'<w:styles xmlns:w="w">{styles}</w:styles>'}
    found = await read(word(body, files, [("x", "styles", "styles.xml")]))
    assert found.all == (f"[{why}: x]" if why else "x")


def framed(properties: str) -> str:
    return paragraph(f"<w:pPr>{properties}</w:pPr>", run("x"))


BODIES = [
    (paragraph(run("x", '<w:color w:val="000000" w:themeColor="background1"/>')), PALE),
    (paragraph(run("x", '<w:color w:val="A6A6A6" w:themeColor="background1" w:themeShade="A6"/>')), ""),
    (paragraph(run("x", '<w:color w:val="FAFAFA"/>')), PALE),
    (paragraph(run("x", f"{WHITE}{DARK}")), ""),
    (paragraph(run("x", f'{WHITE}<w:shd w:val="clear" w:fill="FFFFFF"/>')), PALE),
    (paragraph(run("x", f'{WHITE}<w:highlight w:val="darkBlue"/>')), ""),
    (paragraph(run("x", '<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>')), LIKE_GROUND),
    (paragraph(run("x", '<w:color w:val="FFFF00"/>')), ""),
    (paragraph(run("x", '<w:color w:val="000000"/><w:shd w:val="clear" w:fill="000000"/>')), LIKE_GROUND),
    (paragraph(f"<w:pPr>{DARK}</w:pPr>", run("x", WHITE)), ""),
    (paragraph(run("x", "<w:textFill><w:noFill/></w:textFill>")), CLEAR),
    (paragraph(run("x", '<w:w w:val="1"/>')), SMALL),
    (framed('<w:framePr w:x="-30000"/>'), AWAY),
    (framed('<w:ind w:left="31000"/>'), AWAY),
    (framed('<w:spacing w:line="1" w:lineRule="exact"/>'), SMALL),
    (framed('<w:ind w:left="720"/><w:spacing w:line="240" w:lineRule="exact"/>'), ""),
]


@pytest.mark.parametrize(("body", "why"), BODIES)
async def test_word_hides_in_the_text_itself(read: Read, body: str, why: str) -> None:
    assert (await read(word(body))).all == (f"[{why}: x]" if why else "x")


def cell(looks: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run('x', looks))}</w:tc>"


HEAD = (
    '<w:style w:type="table" w:styleId="T"><w:tblStylePr w:type="firstRow"><w:rPr>'
    f"{WHITE}</w:rPr><w:tcPr>{DARK}</w:tcPr></w:tblStylePr></w:style>"
)


async def test_words_white_table_heads_on_a_dark_ground_are_seen_and_others_are_not(read: Read) -> None:
    styles = {"word/styles.xml": f'<w:styles xmlns:w="w">{HEAD}</w:styles>'}
    of_style = '<w:tblPr><w:tblStyle w:val="T"/><w:tblLook w:firstRow="1"/></w:tblPr>'
    own = f"<w:tbl><w:tr>{cell(WHITE, DARK)}</w:tr><w:tr>{cell(WHITE)}</w:tr></w:tbl>"
    made = f"<w:tbl>{of_style}<w:tr>{cell('')}</w:tr><w:tr>{cell(WHITE)}</w:tr></w:tbl>"
    switched_off = of_style.replace('"1"', '"0"')
    off = f"<w:tbl>{switched_off}<w:tr>{cell(WHITE)}</w:tr></w:tbl>"
    flat = '<w:trPr><w:trHeight w:val="1" w:hRule="exact"/></w:trPr>'
    low = f"<w:tbl><w:tr>{flat}{cell('')}</w:tr></w:tbl>"
    body = paragraph(run("-")).join((own, made, off, low))
    found = await read(word(body, styles, [("x", "styles", "styles.xml")]))
    rows = [line for line in found.all.split("\n") if line.startswith("| ") and "---" not in line]
    assert rows == [
        "| x |",
        f"| [{PALE}: x] |",
        "| x |",
        f"| [{PALE}: x] |",
        f"| [{PALE}: x] |",
        "| [Hidden, in a row without height: x] |",
    ]


BOX = "<w:drawing><wps:wsp xmlns:wps='wps'>{}<w:txbxContent>{}</w:txbxContent></wps:wsp></w:drawing>"


@pytest.mark.parametrize(
    ("fill", "is_seen"),
    [("<a:noFill/>", False), ('<a:solidFill><a:srgbClr val="202020"/></a:solidFill>', True), ("<a:blipFill/>", True)],
)
async def test_white_words_in_a_box_are_seen_on_what_the_box_is_filled_with(
    read: Read, fill: str, is_seen: bool
) -> None:
    box = BOX.format(f"<wps:spPr xmlns:a='a'>{fill}</wps:spPr>", paragraph(run("x", WHITE)))
    assert (await read(word(paragraph(f"<w:r>{box}</w:r>")))).all == ("x" if is_seen else f"[{PALE}: x]")


FONTS = (
    '<fonts><font/><font><color rgb="FFFFFFFF"/></font><font><color theme="0"/></font><font><sz val="1"/></font>'
    '</fonts><fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid">'
    '<fgColor rgb="FF1F4E79"/></patternFill></fill></fills><numFmts><numFmt numFmtId="170" formatCode=";;;"/>'
    '<numFmt numFmtId="171" formatCode="0;;"/></numFmts>'
)
LOOKS = [(1, 0, 0), (2, 0, 0), (3, 0, 0), (1, 1, 0), (0, 0, 170), (0, 0, 171)]
"""Font, fill and format of each style of cells, from 1."""


async def test_cells_that_show_nothing_are_marked(read: Read) -> None:
    formats = "".join(f'<xf fontId="{a}" fillId="{b}" numFmtId="{c}"/>' for a, b, c in ((0, 0, 0), *LOOKS))
    cells = "".join(f'<row r="{at}"><c r="A{at}" s="{at}"><v>{at}</v></c></row>' for at in range(1, len(LOOKS) + 1))
    flat = '<row r="7" ht="0.5"><c r="A7"><v>7</v></c><c r="C7"><v>8</v></c></row>'
    columns = '<cols><col min="3" max="3" width="0.08"/></cols>'
    sheet = f"{columns}<sheetData>{cells}{flat}</sheetData>"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    styles = f'<styleSheet xmlns="{main}">{FONTS}<cellXfs>{formats}</cellXfs></styleSheet>'
    found = await read(workbook({"S": sheet}, styles=styles))
    assert found.all.split("\n")[2:] == [
        f"| 1 | [{PALE}: 1] |",
        f"| 2 | [{PALE}: 2] |",
        f"| 3 | [{SMALL}: 3] |",
        "| 4 | 4 |",
        "| 5 | [Hidden by its format: 5] |",
        "| 6 | 6 |",
        "| 7 (hidden) | 7 |  | [Hidden column: 8] |",
    ]


def text_box(looks: str, fill: str = "", place: str = "0", about: str = "") -> str:
    where = f"<a:xfrm><a:off x='{place}' y='0'/><a:ext cx='100' cy='100'/></a:xfrm>"
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='2' name='' {about}/><p:nvPr/></p:nvSpPr><p:spPr>{where}{fill}</p:spPr>"
        f"<p:txBody><a:p><a:r><a:rPr {looks}</a:rPr><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def solid(colour: str, more: str = "") -> str:
    return f"<a:solidFill><a:srgbClr val='{colour}'>{more}</a:srgbClr></a:solidFill>"


PALE_LETTERS, NAVY = f">{solid('FFFFFF')}", solid("000050")
PICTURE = (
    "<p:pic><p:nvPicPr><p:cNvPr id='3' name=''/></p:nvPicPr><p:spPr><a:xfrm><a:off x='0' y='0'/>"
    "<a:ext cx='100' cy='100'/></a:xfrm></p:spPr></p:pic>"
)
SHAPES = [
    (text_box(PALE_LETTERS), PALE),
    (text_box(PALE_LETTERS, NAVY), ""),
    (text_box(f">{NAVY}", NAVY), LIKE_GROUND),
    (PICTURE + text_box(PALE_LETTERS), ""),
    (PICTURE + text_box(PALE_LETTERS, place="500"), PALE),
    (text_box(">") + PICTURE, "Hidden, below what lies over it"),
    (text_box('sz="100">'), SMALL),
    (text_box("><a:noFill/>"), CLEAR),
    (text_box(">" + solid("000000", "<a:alpha val='1000'/>")), CLEAR),
    (text_box(">" + solid("000000", "<a:alpha val='50000'/>")), ""),
    (text_box(">", about="hidden='1'"), "Hidden"),
    (f"<p:grpSp><p:nvGrpSpPr><p:cNvPr id='4' name='' hidden='1'/></p:nvGrpSpPr>{text_box('>')}</p:grpSp>", "Hidden"),
]


@pytest.mark.parametrize(("shapes", "why"), SHAPES)
async def test_what_of_a_slide_is_not_seen_is_marked(read: Read, shapes: str, why: str) -> None:
    assert (await read(presentation([shapes]))).all == (f"[{why}: x]" if why else "x")


@pytest.mark.parametrize(("ground", "why"), [("dk1", ""), ("lt1", PALE)])
async def test_white_letters_are_seen_on_the_dark_background_of_a_master(read: Read, ground: str, why: str) -> None:
    spaces = "xmlns:p='p' xmlns:a='a'"
    background = "<p:bg><p:bgRef idx='1001'><a:schemeClr val='bg1'/></p:bgRef></p:bg><p:spTree/>"
    colours = "<a:dk1><a:sysClr val='windowText' lastClr='000000'/></a:dk1><a:lt1><a:srgbClr val='FFFFFF'/></a:lt1>"
    files = {
        "ppt/slides/_rels/slide1.xml.rels": relations([("r1", "slideLayout", "../layout.xml")]),
        "ppt/layout.xml": f"<p:sldLayout {spaces}><p:cSld><p:spTree/></p:cSld></p:sldLayout>",
        "ppt/_rels/layout.xml.rels": relations([("r1", "slideMaster", "master.xml")]),
        "ppt/master.xml": (
            f"<p:sldMaster {spaces}><p:cSld>{background}</p:cSld><p:clrMap bg1='{ground}'/></p:sldMaster>"
        ),
        "ppt/_rels/master.xml.rels": relations([("r1", "theme", "theme.xml")]),
        "ppt/theme.xml": (
            f"<a:theme {spaces}><a:themeElements><a:clrScheme>{colours}</a:clrScheme></a:themeElements></a:theme>"
        ),
    }
    found = await read(with_files(presentation([text_box(PALE_LETTERS)]), files))
    assert found.all == (f"[{why}: x]" if why else "x")


async def test_an_open_document_hides_by_colour_and_size_too(read: Read) -> None:
    fo = 'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'

    def style(name: str, looks: str, parent: str = "", kind: str = "text") -> str:
        above = f'style:parent-style-name="{parent}"' if parent else ""
        return f'<style:style style:name="{name}" {above}><style:{kind}-properties {fo} {looks}/></style:style>'

    styles = (
        style("W", 'fo:color="#ffffff"')
        + style("Child", "", "W")
        + style("Tiny", 'fo:font-size="1pt"')
        + style("Dark", 'fo:background-color="#1f4e79"', kind="table-cell")
    )
    cells = "".join(
        f"<table:table-cell {looks}><text:p text:style-name='W'>x</text:p></table:table-cell>"
        for looks in ("table:style-name='Dark'", "")
    )
    body = (
        "<text:p>a<text:span text:style-name='W'>x</text:span></text:p><text:p text:style-name='Child'>x</text:p>"
        "<text:p text:style-name='Tiny'>x</text:p>"
        f"<table:table><table:table-row>{cells}</table:table-row></table:table>"
    )
    found = await read(open_text(body, styles))
    assert found.all == f"a[{PALE}: x]\n\n[{PALE}: x]\n\n[{SMALL}: x]\n\n| x | [{PALE}: x] |\n| --- | --- |"
