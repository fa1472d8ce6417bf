"""A table as text does not say which charset it is in: it is guessed from its letters, and the guess is told."""

import pytest

from desktop.workers.document_host.texts.charsets import text_of
from desktop.workers.inside import CallError
from tests.unit.workers.document_host.conftest import Read

pytestmark = pytest.mark.spec("R-DOC-1")

JAPANESE = "日付,観測所,潮位,備考\n2026-03-01,那覇,1.23,良好\n2026-03-02,石垣島,0.98,欠測あり\n"
TABLES = {
    "Shift-JIS": ("cp932", JAPANESE),
    "Shift-JIS, half as wide": ("cp932", "ｺｰﾄﾞ,ﾅﾏｴ,ｷﾝｶﾞｸ\n001,ﾔﾏﾀﾞ ﾀﾛｳ,1200\n002,ｽｽﾞｷ ﾊﾅｺ,900\n"),
    "EUC-JP": ("euc_jp", JAPANESE),
    "Chinese": ("gb18030", "日期,站点,水位,备注\n2026-03-01,上海,1.23,良好\n2026-03-02,青岛,0.98,缺测\n"),
    "Big5": ("big5", "日期,測站,水位,備註\n2026-03-01,基隆,1.23,良好\n2026-03-02,高雄,0.98,缺測\n"),
    "Korean": ("cp949", "날짜,관측소,조위\n2026-03-01,부산,1.23\n2026-03-02,제주,0.98\n"),
    "Russian": ("cp1251", "Дата,Станция,Уровень\n2026-03-01,Мурманск,1.23\n2026-03-02,Архангельск,0.98\n"),
    "Russian in KOI8": ("koi8_r", "Дата,Станция,Уровень\n2026-03-01,Мурманск,1.23\n2026-03-02,Архангельск,0.98\n"),
    "Greek": ("cp1253", "Ημερομηνία;Σταθμός;Ύψος\n2026-03-01;Πειραιάς;1,23\n"),
    "Hebrew": ("cp1255", "תאריך,תחנה,גובה\n2026-03-01,חיפה,1.23\n2026-03-02,אשדוד,0.98\n"),
    "Polish": ("cp1250", "Data;Stacja;Uwagi\n2026-03-01;Świnoujście;brak pomiarów, przyrząd uszkodzony\n"),
    "Czech": ("cp1250", "Datum;Stanice;Výška\n2026-03-01;Děčín;přístroj poškozen, měření chybí\n"),
    "Turkish": ("cp1254", "Tarih;İstasyon\n2026-03-01;İzmir, ölçüm yapılmadı\n"),
    "Spanish": ("cp1252", "Fecha,Estación,Nivel\n2026-03-01,Cádiz,1.23\n2026-03-02,La Coruña,0.98\n"),
    "German with a euro": ("cp1252", "Name;Betrag\nMüller;12,50 €\n"),
    "one degree": ("cp1252", "t,value\n1,20.5 °C\n"),
    "UTF-16 without its mark": ("utf-16-le", JAPANESE),
    "UTF-16 the other way round": ("utf-16-be", "name,level\nBrest,1.23\n"),
}


@pytest.mark.parametrize("table", TABLES)
def test_the_charset_of_a_table_is_guessed_from_its_letters(table: str) -> None:
    charset, text = TABLES[table]
    found, said = text_of(text.encode(charset))
    assert found == text
    assert said


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "ascii"])
def test_a_charset_that_says_so_itself_is_no_guess(charset: str) -> None:
    text = "name,level\nBrest,1.23\n" if charset == "ascii" else JAPANESE
    assert text_of(text.encode(charset)) == (text, "")


async def test_a_guess_is_told_with_the_table(read: Read) -> None:
    found = await read(JAPANESE.encode("cp932"), "levels.csv")
    assert "| 2 | 2026-03-01 | 那覇 | 1.23 | 良好 |" in found.all
    assert found.about.notes == ("Its charset is not said and was guessed: Shift-JIS.",)
    assert (await read(JAPANESE.encode(), "levels.csv")).about.notes == ()


async def test_what_is_no_text_in_any_charset_is_refused_or_read_within_bounds(read: Read) -> None:
    with pytest.raises(CallError, match="no document"):
        await read(bytes(range(256)) * 40, "levels.csv")
    odd = await read(b"a,b\n" + bytes(range(128, 256)) * 3, "levels.csv")
    assert "| 1 | a | b |" in odd.all
    big = await read(("日付,観測所,潮位\n" * 100_000).encode("cp932"), "levels.csv", room=1_000)
    assert "観測所" in big.all
