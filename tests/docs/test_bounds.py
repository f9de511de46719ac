"""The bounds that `docs/security.md` names: each has the value of the code, and a test that exceeds it."""

import re
from collections.abc import Sequence

import pytest

from api import serving, uploads
from api.access import issuer, limits, session_values, signing_in, tokens
from api.mcp.tools import certificates as listed_certificates
from api.transport import bodies, connections, turns
from app.access import corpora
from app.container import adapters
from app.services.made_questions import making, material
from app.services.stored_questions import questions as stored
from app.services.validity import conflicts, in_force, pairs
from cli.commands.operation import certificates
from core import faults
from core.documents import MAX_METADATA_LENGTH, MAX_METADATA_VALUES
from core.execution.bounded_answers import AnswerBounds
from core.filters import MAX_CHARACTERS
from core.graph_schema import reading
from core.passage_context import asked_cell, page_labels
from core.ports import surveying
from core.principals import MAX_PRINCIPAL_LENGTH, MAX_PRINCIPALS
from core.settings import Settings
from core.strategies import MAX_SPEC_LENGTH
from core.text import periods, titles
from core.validity import contradictions, differences, sentences, statements
from indexer.extractors import llm, syntax
from indexer.extractors import tables as tables_of_facts
from indexer.extractors.syntax import parsing, rules
from indexer.extractors.tables import rows as fact_rows
from indexer.extractors.tables import surroundings
from indexer.isolation import lane
from indexer.loaders import csv
from indexer.loaders.ods import sheet_reader
from indexer.loading import archives, sheets, stated_validity
from indexer.loading.docling import reply
from indexer.loading.pdf import layout, ruled
from indexer.loading.pdf import table_rows as pdf_rows
from indexer.loading.texts import cell_grid, html_text, mails, markdown
from indexer.selection import attachments
from indexer.submission import access_rules
from models import docling_serve
from models.chat import completion_reader, openai_chat
from reasoning.citations import held, markers
from reasoning.strategies.extractive import following, sides
from reasoning.strategies.extractive.over_periods import series
from reasoning.strategies.extractive.over_rows import answering
from reasoning.strategies.extractive.over_rows import tables as table_rows_read
from reasoning.strategies.survey import kinds as survey_kinds
from reasoning.strategies.survey import plan as survey_plan
from reasoning.strategies.survey import reasoner as survey
from reasoning.strategies.survey import tabulation
from reasoning.strategies.survey.undecided import model_reading, shown_passages
from retrieval import cut_tables
from retrieval.candidates import row_labels
from retrieval.exploration import finding, fitting, values
from retrieval.resolution import candidates, features, proposals
from stores import web_endpoint
from tests.docs.pages import DOCS, ROOT, table_rows

_MEGABYTE = 1024 * 1024
_ANSWER = AnswerBounds(seconds=1)
_SERVER, _LANES = "tests/faults/test_watched_server.py", "tests/integration/api/test_lanes.py"
_BODIES, _FILES = "tests/integration/api/test_body_values.py", "tests/unit/indexer/test_bounded_loaders.py"
_CLAIMS = "tests/integration/api/access/test_validity_claims.py"
_SLOW = "tests/integration/api/access/test_slow_clients.py"
_MODELS, _UPLOADS = "tests/integration/models/test_hostile_endpoints.py", "tests/integration/api/test_uploads.py"
_KEYS, _IMAGES = "tests/integration/api/access/test_keys.py", "tests/integration/isolation/test_page_images.py"
_LARGE = "tests/integration/api/test_large_values.py"
_PARSER, _HOSTILE = "tests/integration/isolation/test_parser_process.py", "tests/unit/indexer/test_markup_bounds.py"
_TABLES, _ODS = "tests/unit/indexer/test_pdf_tables.py", "tests/unit/indexer/test_ods.py"
_RULED = "tests/unit/indexer/test_pdf_ruled.py"
_SURVEY = "tests/integration/reasoning/test_survey.py"
_DOCLING = "tests/unit/indexer/test_docling.py"
_TOKENS = "tests/integration/api/access/test_tokens.py"
_VERSIONS = "tests/unit/core/test_versions.py"

_BOUNDS: dict[str, tuple[Sequence[int], str]] = {
    "header of a request": (
        [serving._HEADER_BYTES // 1024],
        f"{_SERVER}::test_headers_without_end_are_refused_and_the_address_that_a_program_claims_is_not_believed",
    ),
    "body of a request": (
        [int(bodies._QUESTION_MEGABYTES), int(bodies._CALL_MEGABYTES)],
        "tests/integration/api/test_guard.py::test_a_large_body_is_refused_unread",
    ),
    "values of JSON": (
        [bodies._QUESTION_VALUES, bodies._TEXT_VALUES],
        f"{_BODIES}::test_unknown_fields_without_number",
    ),
    "bodies that have begun and not ended": (
        [bodies._MOST_WAITING // 1_000_000, bodies._ALWAYS_TAKEN // 1000],
        f"{_LARGE}::test_bodies_that_do_not_end_leave_room_for_ordinary_ones",
    ),
    "faults that a problem lists": ([faults._TOLD], f"{_BODIES}::test_faults_without_number"),
    "strategy with its options": ([MAX_SPEC_LENGTH], f"{_LARGE}::test_long_strategies_and_filters_are_refused"),
    "filter": ([MAX_CHARACTERS], f"{_LARGE}::test_long_strategies_and_filters_are_refused"),
    "metadata of a document": (
        [MAX_METADATA_LENGTH, MAX_METADATA_VALUES],
        f"{_LARGE}::test_metadata_of_a_sender_are_bounded_and_changes_do_not_add_up_to_more",
    ),
    "registers of what is in force, in memory": (
        [in_force._MOST_KEPT, corpora._MOST_DATED],
        f"{_CLAIMS}::test_a_register_of_a_restricted_caller_is_kept_until_a_document_is_taken_from_it",
    ),
    "texts of two documents that are compared": (
        [differences.MOST_CHARACTERS, differences.MOST_CLAUSES, differences._MOST_WORDS, differences._MOST_SCORED],
        "tests/unit/core/validity/test_differences.py::test_long_texts_and_many_clauses_are_bounded",
    ),
    "documents compared for conflicts with what an answer cites": (
        [
            *(pairs._MOST_COMPARED, pairs._MOST_LOOKED_AT, pairs._MOST_OF_A_KIND, conflicts._MOST_SECONDS),
            *(contradictions._MOST_VALUES, contradictions._MOST_SENTENCES, conflicts._MOST_TOLD, pairs._MOST_SEARCHES),
            *(pairs._MOST_FOUND, pairs._LONGEST_SEARCHED, conflicts._MOST_ASKED_AGAIN),
        ],
        "tests/integration/api/access/test_conflicts.py::test_few_documents_are_compared_and_told",
    ),
    "text that is read for statements on validity": (
        [stated_validity._READ, sentences._LONGEST, stated_validity._MOST, statements._MOST_NAMES],
        "tests/unit/indexer/test_stated_validity.py::test_the_middle_of_a_long_document_is_not_read",
    ),
    "access of a document, principals of a key": (
        [MAX_PRINCIPALS, MAX_PRINCIPAL_LENGTH],
        "tests/integration/api/access/test_giving_access.py::test_what_is_no_access_is_refused",
    ),
    "rules of access": (
        [access_rules._MAX_RULES],
        "tests/unit/indexer/test_access_rules.py::test_what_is_no_rule_is_refused",
    ),
    "token of a caller": ([tokens._LONGEST, tokens._MOST_GROUPS], f"{_TOKENS}::test_tokens_that_are_not_accepted"),
    "keys of an issuer of tokens": (
        [
            *(issuer._MOST_KEYS, issuer._BOUNDS.whole // _MEGABYTE, issuer._BOUNDS.values),
            *(int(issuer._BOUNDS.seconds), int(issuer._AGAIN_SECONDS)),
        ],
        f"{_TOKENS}::test_an_issuer_that_answers_wrong_is_named",
    ),
    "sign-in at an identity provider": (
        [signing_in.ATTEMPT_SECONDS // 60, issuer._MOST_EXCHANGES, int(issuer._BOUNDS.seconds), session_values.LONGEST],
        "tests/integration/api/access/test_provider.py::test_codes_are_exchanged_a_few_at_once",
    ),
    "manifest of an upload": ([uploads._MOST_VALUES], f"{_LARGE}::test_a_manifest_of_many_values_is_refused"),
    "upload of files": ([], f"{_UPLOADS}::test_limits"),
    "import": ([], "tests/integration/api/test_import.py::test_limits"),
    "open connections": ([connections._RESERVE], f"{_SERVER}::test_health_is_told_when_all_connections_are_taken"),
    "requests of one address": (
        [turns._AT_ONCE, int(100 * turns._BUSY)],
        "tests/unit/api/test_turns.py::test_an_address_that_takes_more_than_its_share_waits_for_the_others",
    ),
    "response that is not read": (
        [],
        f"{_SERVER}::test_a_proxy_of_the_settings_is_believed_and_a_client_that_reads_nothing_is_cut_off",
    ),
    "response that the system holds unsent (Linux)": (
        [connections._UNSENT_BYTES // 1024],
        f"{_SLOW}::test_the_system_takes_little_of_a_response_that_its_client_does_not_read",
    ),
    "streams of one key": ([], f"{_KEYS}::test_streams_of_one_key_at_once"),
    "wrong keys of one address": (
        [limits.MOST],
        "tests/integration/api/access/test_signing_in.py::test_wrong_keys_of_requests_are_limited_by_address",
    ),
    "passages of a search, edges of a neighbourhood, messages of a history": (
        [],
        f"{_KEYS}::test_caps_of_the_settings",
    ),
    "documents that wait": (
        [],
        "tests/integration/api/test_pages.py::test_a_full_queue_is_told_with_the_time_to_come_again",
    ),
    "estimates that wait": (
        [adapters._ESTIMATES.all, adapters._ESTIMATES.of_one],
        f"{_LANES}::test_estimates_that_do_not_end_keep_nobody_from_pages",
    ),
    "texts of pages that wait": (
        [adapters._PAGES.all, adapters._PAGES.of_one],
        "tests/unit/indexer/test_lane.py::test_too_many_calls_are_refused_of_one_caller_and_in_all",
    ),
    "images of pages that wait": (
        [lane._LIMITS.all, lane._LIMITS.of_one],
        f"{_IMAGES}::test_too_many_calls_are_refused_and_the_others_are_answered",
    ),
    "parsing of a file": ([], f"{_PARSER}::test_a_file_that_takes_too_long_is_named_with_the_setting"),
    "archive": (
        [archives.MAX_FILES, archives.MAX_UNPACKED // _MEGABYTE, archives.MAX_RATIO],
        "tests/unit/indexer/test_archives.py::test_a_bomb_is_refused_before_it_is_unpacked",
    ),
    "elements around a text of HTML": (
        [html_text.DEEPEST],
        f"{_HOSTILE}::test_elements_that_are_too_deep_are_left_out_with_their_end_tags",
    ),
    "tag of HTML": ([html_text.LONGEST_TAG], f"{_HOSTILE}::test_the_attributes_of_a_tag_that_is_too_long_are_left_out"),
    "header of a mail": (
        [mails._LONGEST_HEADER, mails._LONGEST_FIELD],
        f"{_FILES}::test_a_long_header_of_a_mail_is_cut",
    ),
    "attachments as documents": (
        [attachments.MAX_FILES, attachments._MOST, attachments.MAX_DEPTH, attachments.MAX_OF_MAILBOX],
        "tests/unit/indexer/test_attachments.py::test_bounds_of_attachments",
    ),
    "lines of Markdown with headings": (
        [markdown._MOST_LINES],
        f"{_FILES}::test_headings_are_found_in_the_first_lines_and_no_text_is_lost",
    ),
    "name of a column": ([csv._LONGEST_NAME], f"{_FILES}::test_a_first_row_of_long_texts_names_no_columns"),
    "text of a table": ([csv._MOST], f"{_FILES}::test_a_table_whose_names_make_it_many_times_longer_is_refused"),
    "parts of a row of a PDF": ([pdf_rows._MOST_PARTS], f"{_TABLES}::test_a_row_of_thousands_of_runs_is_one_cell"),
    "lines of a page of a PDF": (
        [ruled._MOST_RULINGS, ruled._MOST_OBJECTS],
        f"{_RULED}::test_many_lines_are_a_drawing",
    ),
    "ruled table of a PDF": (
        [ruled._MOST_CELLS, ruled._MOST_REPEATED],
        f"{_RULED}::test_large_tables_and_merged_cells_are_bounded",
    ),
    "labels of pages of a PDF": (
        [page_labels._MOST_SEQUENCES, page_labels._LONGEST],
        "tests/unit/indexer/test_pdf_loader.py::test_labels_of_pages_that_are_none_are_left_out",
    ),
    "gutter of a PDF that wide spaces show": (
        [int(layout._WIDEST_GUTTER)],
        f"{_TABLES}::test_letters_of_any_height_and_places_that_are_none_are_read",
    ),
    "repeated rows and cells of ODS": (
        [sheet_reader._MOST_REPEATED, sheet_reader._ADDED],
        f"{_ODS}::test_rows_and_cells_that_one_element_stands_for_are_bounded",
    ),
    "merged cells of a sheet": (
        [sheets.MOST_MERGED, sheets._LARGEST_MERGED, sheets._MOST_REPEATED],
        f"{_ODS}::test_each_bound_of_merged_cells_holds",
    ),
    "empty cells between two of a row": (
        [sheets.LONGEST_GAP],
        f"{_FILES}::test_long_gaps_between_cells_are_short_in_the_text",
    ),
    "title that is read for versions": (
        [titles._LONGEST_TITLE],
        f"{_VERSIONS}::test_a_long_title_is_read_for_versions_at_its_beginning",
    ),
    "versions that a question names": (
        [titles._MOST_WANTED],
        f"{_VERSIONS}::test_a_pasted_list_of_versions_asks_for_none",
    ),
    "passages that are read for the names of columns": (
        [number for look in cut_tables._LOOKS for number in look],
        "tests/integration/api/test_part_of.py::test_a_header_far_above_is_not_looked_for",
    ),
    "entities that are looked at for a type": (
        [finding.MOST_TYPED, values._MOST_ASSERTING],
        "tests/integration/api/test_entities.py::test_entities_have_types_and_so_many_are_looked_at_for_a_type",
    ),
    "schema of a corpus": (
        [
            *(reading.MAX_BYTES, reading._DEEPEST, reading._MOST_TYPES, reading._MOST_RELATIONS),
            *(reading._MOST_ENTRIES, reading._LONGEST_ENTRY),
        ],
        "tests/unit/core/test_graph_schema.py::test_what_is_wrong_is_told_with_its_line",
    ),
    "passages whose facts are compared with a schema": (
        [fitting.MOST_CHECKED],
        "tests/integration/api/test_graph_schemas.py::test_so_many_passages_are_compared_with_a_schema",
    ),
    "types and relations of a schema that the extractor `llm` is told": (
        [llm.MOST_CHARACTERS],
        "tests/integration/indexer/test_openie.py::test_so_much_of_a_schema_is_told",
    ),
    "entities that are compared with each other": (
        [candidates.MOST_ENTITIES, candidates.MOST_PAIRS, features._MOST_CHUNKS, proposals.MOST_PROPOSALS],
        "tests/integration/api/test_resolution.py::test_beyond_a_bound_proposals_are_not_complete",
    ),
    "question that chooses a cell": (
        [asked_cell._ASKED],
        "tests/unit/core/test_cell_work.py::test_a_question_of_any_length_costs_little",
    ),
    "labels of rows of a passage": (
        [row_labels._MOST_LABELS],
        "tests/unit/retrieval/bridged/test_label_bounds.py::test_a_passage_with_thousands_of_labels_gains_little_by_each",
    ),
    "passages that labels find": (
        [row_labels._MOST_DOCUMENTS, row_labels._MOST_READ, row_labels._MOST_FOUND],
        "tests/unit/retrieval/bridged/test_label_bounds.py::test_documents_with_the_most_candidates_are_looked_into_first",
    ),
    "conversation that a follow-up reads": (
        [stored._MOST_TURNS, stored._LONGEST_TURN],
        "tests/integration/api/stored/test_conversations.py::test_a_long_conversation_is_read_from_its_last_questions",
    ),
    "passage that is parsed for facts": (
        [syntax._MOST_TEXT, parsing._LONGEST, rules._MOST_SENTENCE, syntax._MOST_FACTS],
        "tests/unit/indexer/test_syntax.py::test_a_sentence_without_an_end_is_read_in_part",
    ),
    "tables that are read for facts": (
        [
            *(tables_of_facts._MOST_TEXT, fact_rows._MOST_FACTS, fact_rows._MOST_OF_ROW),
            *(surroundings._LONGEST_BLOCK, surroundings._MOST_LABELS),
        ],
        "tests/unit/indexer/test_table_facts.py::test_a_hostile_table_has_few_facts_in_bounded_memory",
    ),
    "links in a folder": ([], "tests/unit/indexer/test_walking.py::test_links_out_of_the_folder_are_rejected"),
    "answer of an endpoint": (
        [_ANSWER.whole // _MEGABYTE, _ANSWER.values, _ANSWER.stream // _MEGABYTE, _ANSWER.event // _MEGABYTE],
        f"{_MODELS}::test_an_endless_answer_is_cut_off",
    ),
    "reply of docling": (
        [docling_serve._LARGEST // _MEGABYTE, docling_serve._MOST_VALUES, reply.MOST_PAGES],
        f"{_DOCLING}::test_page_numbers_are_bounded",
    ),
    "column to which a cell of docling is moved": (
        [cell_grid._LAST_COLUMN],
        f"{_DOCLING}::test_cells_far_away_make_no_long_rows",
    ),
    "answer of a search engine": (
        [web_endpoint._LARGEST // _MEGABYTE],
        f"{_MODELS}::test_an_endless_answer_is_cut_off",
    ),
    "answer of a model": (
        [completion_reader._MAX_REASONING],
        "tests/integration/models/test_openai_chat.py::test_an_answer_without_end_is_stopped",
    ),
    "calls of a model that run at once": (
        [],
        "tests/integration/models/test_chat_turns.py::test_who_asks_much_keeps_nobody_waiting",
    ),
    "stream of a model": (
        [openai_chat._CHUNKS_AT_ONCE, openai_chat._CHUNKS_PER_SECOND],
        "tests/integration/models/test_openai_chat.py::test_a_stream_of_many_chunks_is_read_slowly",
    ),
    "characters of an answer that is compared with what it cites": (
        [held._LONGEST],
        "tests/unit/reasoning/test_held.py::test_an_endless_answer_is_not_compared",
    ),
    "citations of an answer": (
        [markers._MOST_CITATIONS],
        "tests/unit/reasoning/test_markers.py::test_an_answer_has_so_many_citations_at_most",
    ),
    "survey": (
        [
            survey.MOST_DOCUMENTS,
            survey.MOST_SECONDS,
            survey.MOST_ROWS,
            survey.MOST_CALLS,
            shown_passages._MOST_WINDOWS,
            shown_passages._MOST_SHARING,
            shown_passages._MOST_CHARACTERS,
            surveying.MOST_PASSAGES,
            survey_plan._MOST_WORDS,
            survey_kinds.READ,
        ],
        f"{_SURVEY}::test_a_survey_that_stops_early_says_so",
    ),
    "tables that are read for a question over their rows": (
        [answering.MOST_DOCUMENTS, table_rows_read.MOST_PASSAGES, table_rows_read.MOST_SECONDS],
        "tests/unit/reasoning/extractive/test_over_rows.py::test_a_document_of_too_many_passages_is_refused",
    ),
    "documents that a survey reads whole, to find copies": (
        [survey._MOST_COMPARED],
        f"{_SURVEY}::test_of_many_long_documents_some_are_compared",
    ),
    "documents whose groups and values a survey looks up": (
        [tabulation.MOST_TABULATED],
        "tests/integration/reasoning/test_survey_tables.py::test_values_are_looked_up_for_so_many_documents",
    ),
    "passages of an undecided document that a survey compares before a model reads the nearest": (
        [model_reading._MOST_READ],
        "tests/integration/reasoning/test_survey_model.py::test_of_a_long_document_the_passages_of_the_finder_are_read",
    ),
    "passages that made questions are made of": (
        [material.MOST_PASSAGES],
        "tests/integration/evaluation/test_made_questions.py::test_of_a_large_corpus_documents_are_drawn",
    ),
    "questions that a request makes": (
        [making.MOST_MADE, making.MOST_PASSAGES, making.MOST_SECONDS],
        "tests/integration/api/test_made_questions.py::test_work_that_is_too_large_or_long_is_refused_and_says_what_to_do",
    ),
    "questions that a request measures": (
        [making.MOST_ASKED, making.MOST_SUPPORTS, making.MOST_SEARCHERS],
        "tests/integration/api/test_made_questions.py::test_work_that_is_too_large_or_long_is_refused_and_says_what_to_do",
    ),
    "lines of certificates in a reply of MCP": (
        [listed_certificates._MOST_CHARACTERS],
        "tests/integration/api/mcp/test_certificates.py::test_long_certificates_are_listed_a_few_at_once",
    ),
    "line of certificates that `hopweave verify` reads": (
        [certificates._LONGEST_LINE],
        "tests/unit/cli/test_verifying.py::test_a_line_that_is_too_long_is_no_certificate",
    ),
    "sides of a question that `extractive` searches one by one": (
        [sides._MOST],
        "tests/unit/reasoning/extractive/test_sides.py::test_a_question_about_one_thing_or_many_has_no_sides",
    ),
    "versions of a document that a question over periods is answered from": (
        [series._MOST, series._MOST_HITS, periods._LONGEST],
        "tests/unit/reasoning/extractive/test_series.py::test_the_newest_versions_are_read_with_few_passages_of_each",
    ),
    'passages that `extractive` searches for the one reference ("Refer to Note …") that it follows': (
        [following._SEARCHED],
        "tests/integration/reasoning/test_extractive.py::test_a_reference_is_followed_in_its_document",
    ),
}
"""For each row its numbers, in the order of the text, and the test that exceeds the bound."""

_SETTING = re.compile(r"HOPWEAVE_([A-Z]+)__([A-Z_]+)")


def _rows() -> dict[str, str]:
    return {what: bound for what, bound, *_ in table_rows((DOCS / "security.md").read_text("utf-8"), "what", "bound")}


def test_every_bound_is_checked_here() -> None:
    assert list(_rows()) == list(_BOUNDS)


@pytest.mark.parametrize("what", _BOUNDS)
def test_a_bound_is_that_of_the_code_and_has_a_test(what: str) -> None:
    bound = _rows()[what]
    numbers, test = _BOUNDS[what]
    told = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d|\d", _SETTING.sub("", bound))]
    assert set(numbers) <= set(told), f"{bound!r} has not all of {numbers}"
    for section, name in _SETTING.findall(bound):
        assert hasattr(getattr(Settings(), section.lower()), name.lower())
    file, _, function = test.partition("::")
    assert re.search(rf"def {function}\(", (ROOT / file).read_text("utf-8")), f"there is no test {test}"
    assert numbers or _SETTING.search(bound) or "none" in bound, "a bound is a number, a setting, or none"
