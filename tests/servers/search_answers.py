"""Answers of search services: as their documentation shows them, and as a SearXNG gave it (2026-10, json_engine)."""

BRAVE = {
    "query": {"original": "high water quay 3", "more_results_available": True},
    "type": "search",
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    "web": {
        "type": "search",
        "family_friendly": True,
        "results": [
            {
                "title": "Tide tables &amp; notices",
                "url": "https://tides.example/quay-3",
                "is_source_local": False,
                "description": "<strong>High water</strong> at quay 3 is at 04:11.",
                "page_age": "2026-03-16T09:12:00",
                "profile": {"name": "Tides", "url": "https://tides.example", "long_name": "tides.example"},
                "meta_url": {"scheme": "https", "netloc": "tides.example", "path": "› quay-3"},
                "extra_snippets": ["Low water is at 10:20."],
            },
            {"title": "Harbour", "url": "https://harbour.example/", "description": ""},
        ],
    },
}
TAVILY = {
    "query": "high water quay 3",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "url": "https://tides.example/quay-3",
            "title": "Tide tables & notices",
            "content": "High water at quay 3 is at 04:11.",
            "score": 0.81,
            "raw_content": None,
        }
    ],
    "response_time": 1.09,
    "request_id": "123e4567-e89b-12d3-a456-426614174111",
}
EXA = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "resolvedSearchType": "neural",
    "results": [
        {
            "id": "https://tides.example/quay-3",
            "title": "Tide tables & notices",
            "url": "https://tides.example/quay-3",
            "publishedDate": "2026-03-16T00:00:00.000Z",
            "author": None,
            "highlights": ["High water at quay 3 is at 04:11.", "Low water is at 10:20."],
            "highlightScores": [0.46, 0.31],
        }
    ],
    "costDollars": {"total": 0.007},
}
SEARXNG = {
    "query": "tide",
    "results": [
        {
            "url": "https://tides.example/0?q=tide",
            "title": "Tide <b>table</b> 0 & tide",
            "content": "High water at quay 0 <script>x</script> is 04:10",
            "engine": "local",
            "template": "default.html",
            "parsed_url": ["https", "tides.example", "/0", "", "q=tide", ""],
            "engines": ["local"],
            "positions": [1],
            "score": 1.0,
            "category": "general",
            "publishedDate": None,
        },
        {
            "title": "",
            "content": "",
            "engines": ["demo"],
            "template": "keyvalue.html",
            "url": None,
            "engine": "demo",
            "parsed_url": None,
            "kvmap": {"query": "tide", "language": "all", "value": "demo"},
            "caption": "Demo Offline Engine Result #1",
        },
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["google", "timeout"], ["bing", "access denied"]],
}
