"""Settings that moved to another key keep what a person wrote."""

from tests.unit.settings.test_service import loaded


async def test_the_numbers_of_starts_moved_below_the_rate_limit_and_keep_what_a_person_wrote(tmp_path):
    service = await loaded(tmp_path, "limits:\n  starts_per_minute: 25\n  skill_starts_per_minute: 7\n")
    limit = service.current.middleware.rate_limit
    assert (limit.per_minute, limit.skills_per_minute) == (25, 7)
    await service.update("limits.concurrent_runs", 2)
    assert (service.problems, "starts_per_minute" in service.path.read_text()) == ((), False)
    again = (await loaded(tmp_path)).current.middleware.rate_limit
    assert (again.per_minute, again.skills_per_minute) == (25, 7)
