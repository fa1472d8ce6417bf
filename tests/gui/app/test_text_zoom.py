"""How the whole app looks follows its settings; larger and smaller text by keys."""

from typing import Any


async def test_quick_presses_are_one_change_to_where_the_last_of_them_led(start: Any) -> None:
    app = await start(whole=False)
    await app.until(lambda: app.startup._models is not None, "the settings")
    settings, told, dressed = app.models.settings, [], []
    settings.changed.connect(lambda key: told.append(settings.get(key)) if key == "appearance.text_scale" else None)
    theme = app.startup._theme
    theme.changed.connect(lambda: dressed.append(theme.scale))
    shell = app.startup._shell
    for _ in range(3):
        shell.run_command("text:larger")
    shell.run_command("text:smaller")
    await app.until(lambda: told, "the change")
    assert (told, [scale for scale in dressed if scale != 1.0]) == ([1.2], [1.2])
    shell.run_command("text:smaller")
    await app.until(lambda: len(told) > 1, "the next one, from there")
    assert told == [1.2, 1.1]


async def test_the_theme_follows_the_settings(start: Any) -> None:
    app = await start(whole=False)
    await app.until(lambda: app.startup._services is not None, "the settings")
    settings, theme = app.startup._services.settings, app.startup._theme
    for mode, scale, motion in (("dark", 1.5, "on"), ("light", 1.0, "off")):
        await settings.update_many(
            {"appearance.theme": mode, "appearance.text_scale": scale, "appearance.reduce_motion": motion}
        )
        assert (theme.mode, theme.scale, theme.less_motion) == (mode, scale, motion == "on")
