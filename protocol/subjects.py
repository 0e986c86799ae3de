"""THE table of subjects: everything that is said on the bus, once, with the types that travel on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from protocol.access import KeyEnd, KeyRecord, UsageRecord
from protocol.acting.act import Reached, ReachOnPage, ResumeTask
from protocol.acting.chats import (
    AskMessages,
    ChangeChat,
    ChatInfo,
    ChatIsOpen,
    ChatLine,
    ChatList,
    ChatMessages,
    ListChats,
    OpenChat,
)
from protocol.acting.interact import Interact, InteractData
from protocol.acting.steps import StepClaim, StepVerdict
from protocol.acting.tasks import AskTask, TaskLine, TaskState
from protocol.acting.tree import AskTree, PageTree
from protocol.agent import AgentAnswered, MadeText, MakePlan, MakeText, Planned, RunAgent
from protocol.answers import (
    Answered,
    AnswerText,
    AskConversation,
    AskQuestion,
    ChatEvent,
    ConversationList,
    ConversationLog,
    ExtractData,
    Extracted,
    ListConversations,
    Summarize,
)
from protocol.browse import MAX_LATENCY_MS
from protocol.browsers.sessions import AskBrowser, BrowserAnswer, BrowserList, BrowserRecord, ListBrowsers
from protocol.collection_views import (
    AskCollection,
    AskKeptBytes,
    AskSource,
    AskText,
    CollectionChanged,
    CollectionList,
    CollectionView,
    ImportedSources,
    ImportSources,
    KeptBytes,
    ListCollections,
    ListTexts,
    PackCollection,
    PackedCollection,
    SourceContent,
    TextInfo,
    TextList,
)
from protocol.collections import SHARED_RUNNERS, CollectionLine, DoCapture, DoTransform
from protocol.domains import AbsentPage, AskDomain, DomainKnowledge, Foreseen, ForeseePage, HostTexts, Preview
from protocol.flows import (
    AskFlow,
    Flow,
    FlowForgotten,
    FlowList,
    FlowRecording,
    KeepFlow,
    KeptRecording,
    ListFlows,
    RecordFlow,
)
from protocol.integrations import (
    DELIVERY_MS,
    Delivery,
    DeliveryList,
    ListDeliveries,
    NamedDelivery,
    SendDelivery,
)
from protocol.models import CallLine, CallModel, CallOutcome, LearnerTurn, ModelAnswer, ModelText, SpendTaken
from protocol.offers.offer import MAX_ASK_MS, OFFER_TTL_MS, AskOffer, Offer
from protocol.offers.results import OfferAnswer, OfferNews, Said
from protocol.pages import Browsed, BrowsePage, Fetched, FetchPage, PageBrowsed, PageClaim, Verdict
from protocol.patterns.api_calls import ApiAnswers, AskApi
from protocol.patterns.listing import (
    ApiCalled,
    AskPattern,
    CallApi,
    ExportPatterns,
    ForgottenPattern,
    ImportedPatterns,
    ImportPatterns,
    JudgePattern,
    ListPatterns,
    PatternFile,
    PatternJudged,
    PatternList,
    PatternVerdict,
    PatternView,
    VerifyPattern,
)
from protocol.patterns.pattern import PagePattern
from protocol.patterns.sample import SealedSample
from protocol.patterns.use import PatternUsed
from protocol.policy import (
    AnswerApproval,
    Approval,
    ApprovalList,
    AskApproval,
    AskField,
    Decision,
    FieldFacts,
    ListApprovals,
    RunTool,
    ToolOutcome,
    ToolRequest,
    ToolResult,
)
from protocol.push import AskChannels, OpenChannels, SealedPush
from protocol.recordings import AskRecording, ConversationRecording, ListRecordings, RecordedBatch, RecordingList
from protocol.replicas import (
    Absence,
    CallCancelled,
    ClientReply,
    Progress,
    ReplicaDrained,
    ReplicaGone,
    ReplicaReady,
    ReplyTaken,
    StorageFilled,
    VaultKeyMark,
    WhyAbsent,
)
from protocol.routes import (
    AskMetrics,
    AskRoute,
    ListOptimizations,
    ListProviders,
    ListRoutes,
    NamedProvider,
    Optimizations,
    Override,
    ProviderList,
    ProviderState,
    RouteChange,
    RouteConfig,
    RouteMetrics,
    RouteTable,
    SetRoute,
    UnsetRoute,
)
from protocol.runs.events import LedgerLine
from protocol.runs.requests import (
    AskRun,
    AskSecrets,
    CreateRun,
    DoRun,
    FollowRun,
    IdempotencyEntry,
    ListRuns,
    ListTemplates,
    ReadArtifact,
    RunNews,
    Secrets,
    Templates,
)
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList
from protocol.runs.states import IDEMPOTENCY_MS, MAX_CONCURRENT_RUNS
from protocol.search import Passages, SearchPassages
from protocol.sessions import (
    KeepLogin,
    KeptLogin,
    ListSessions,
    NamedSession,
    OpenedLogin,
    OpenLogin,
    SavedSession,
    SaveSession,
    SessionList,
    SessionStatus,
    ShareSession,
)
from protocol.subject_kinds import Bucket, Call, Event, Journal, Objects, Subject, Work
from protocol.texts import PrintedPage, PrintPage
from protocol.tiers import TierHistory
from protocol.tool_log import ToolLine
from protocol.visits import MAX_KEPT_DAYS, AskVisit, KeptVisit, ListVisits, VisitList
from protocol.web import HostPace, KeptAnswers, RobotsFile

MAX_MODEL_MS = 300_000
"""How long a call of a model may take, all its tries together."""

MAX_ANSWER_MS = 600_000
"""How long a summary or an answer may take, the reading of its pages included."""

MAX_TOOL_MS = 180_000
"""How long a tool may take."""

BROWSE = Call("web.browse", BrowsePage, Browsed, timeout_ms=MAX_LATENCY_MS)
FETCH = Call("web.fetch.{tier}", FetchPage, Fetched)
PREVIEW = Call("web.preview", BrowsePage, Preview, timeout_ms=5_000)
DOMAIN = Call("web.domain", AskDomain, DomainKnowledge, timeout_ms=5_000)
FORESEE = Call("web.foresee", ForeseePage, Foreseen, timeout_ms=2_000)
WHY_ABSENT = Call("actor.absent.{actor}", WhyAbsent, Absence, timeout_ms=1_000)
VERIFY_PAGE = Call("verify.page", PageClaim, Verdict, timeout_ms=5_000)
VERIFY_STEP = Call("verify.step", StepClaim, StepVerdict, timeout_ms=60_000)
"""Whether an action on a page did what was wanted."""

SESSION_SAVE = Call("session.save", SaveSession, SessionStatus)
SESSION_LIST = Call("session.list", ListSessions, SessionList)
SESSION_HEALTH = Call("session.health", NamedSession, SessionStatus)
SESSION_DELETE = Call("session.delete", NamedSession, SessionStatus)
SESSION_REFRESH = Call("session.refresh", NamedSession, SessionStatus, timeout_ms=90_000)
SESSION_SHARE = Call("session.share", ShareSession, SessionStatus)
SESSION_OPEN = Call("session.open", OpenLogin, OpenedLogin, timeout_ms=5_000)
"""A login, asked by a fetcher that was passed the right to it."""
SESSION_KEEP = Call("session.keep", KeepLogin, KeptLogin, timeout_ms=5_000)
"""What a fetch has changed of it."""

BROWSER = Call("browser.ask", AskBrowser, BrowserAnswer, timeout_ms=60_000)
BROWSER_AT = Call("browser.at.{replica}", AskBrowser, BrowserAnswer, timeout_ms=60_000)
"""The same, asked of the replica in which the session lives."""
BROWSERS = Call("browser.list", ListBrowsers, BrowserList)
BROWSER_TREE = Call("browser.tree", AskTree, PageTree, timeout_ms=30_000)
"""What there is to act on in a page; nothing is done to it."""

OFFERED = Call("offers.{actor}", AskOffer, OfferAnswer, idempotent=False, timeout_ms=MAX_ASK_MS)
"""What an actor brings to MCP, asked of it by its name."""

EDGE_REPLY = Call("edge.reply.{replica}", ClientReply, ReplyTaken, timeout_ms=5_000)
"""A client's reply that came in at another replica of the gateway than the one that waits for it."""

PUSH_CHANNELS = Call("edge.channels.{replica}", AskChannels, OpenChannels, timeout_ms=2_000)
"""Which channels of push are subscribed to at a replica of the gateway, asked by another."""

RUN_TEMPLATES = Call("run.templates", ListTemplates, Templates, timeout_ms=5_000)
RUN_CREATE = Call("run.create", CreateRun, RunAccepted, timeout_ms=10_000)
RUN_CANCEL = Call("run.cancel", AskRun, CancelAnswer, timeout_ms=10_000)
RUN_SECRETS = Call("run.secrets.{replica}", AskSecrets, Secrets, timeout_ms=2_000)
"""What is secret in the inputs of a run, asked by the replica that does it of the one that was given it."""
RUN = Work("run.work", DoRun, at_once=MAX_CONCURRENT_RUNS, share=MAX_CONCURRENT_RUNS - 1, max_deliver=None)
"""A run; the supervisor sets how many are in hand at once by `runs_at_once`, of one key all but one: some last long.

Whoever does it counts the attempts.
"""
RUN_GET = Call("run.get", AskRun, Run, timeout_ms=10_000)
RUN_LIST = Call("run.list", ListRuns, RunList, timeout_ms=10_000)
RUN_FOLLOW = Call("run.follow", FollowRun, RunNews, timeout_ms=30_000)
ARTIFACT_READ = Call("artifact.read", ReadArtifact, ArtifactChunk, timeout_ms=30_000)

FLOW_RECORD = Call("flow.record", RecordFlow, FlowRecording, timeout_ms=60_000)
"""Have what is done in a browser session recorded from now on."""
FLOW_KEEP = Call("flow.keep", KeepFlow, KeptRecording, idempotent=False, timeout_ms=10_000)
FLOW_GET = Call("flow.get", AskFlow, Flow, timeout_ms=10_000)
FLOW_LIST = Call("flow.list", ListFlows, FlowList, timeout_ms=10_000)
FLOW_FORGET = Call("flow.forget", AskFlow, FlowForgotten, timeout_ms=10_000)

POLICY_CALL = Call("policy.call", ToolRequest, ToolOutcome, timeout_ms=MAX_TOOL_MS)
"""Have a tool run if the gate allows it; what it asks about waits for an approval. The same id runs once."""
POLICY_DECIDE = Call("policy.decide", ToolRequest, Decision, timeout_ms=10_000)
"""What the gate says of a call, which somebody else does or nobody."""
APPROVAL_LIST = Call("policy.approvals", ListApprovals, ApprovalList, timeout_ms=10_000)
APPROVAL_GET = Call("policy.approval", AskApproval, Approval, timeout_ms=10_000)
APPROVAL_ANSWER = Call("policy.answer", AnswerApproval, Approval, timeout_ms=MAX_TOOL_MS)
TOOL = Call("tool.{actor}", RunTool, ToolResult, timeout_ms=MAX_TOOL_MS)
"""Run a tool: `policy` alone may say this. Whoever is asked twice does it once."""
BROWSER_FIELD = Call("browser.field", AskField, FieldFacts, timeout_ms=10_000)
"""What an element of a page is, for the gate."""

PRINT = Call("browser.print", PrintPage, PrintedPage, timeout_ms=60_000)
"""Print a page of our own as a PDF, by a browser that reaches nothing."""

COLLECTION_LIST = Call("collection.list", ListCollections, CollectionList, timeout_ms=10_000)
COLLECTION_BYTES = Call("collection.bytes", AskKeptBytes, KeptBytes, timeout_ms=2_000)
COLLECTION_GET = Call("collection.get", AskCollection, CollectionView, timeout_ms=10_000)
COLLECTION_PACK = Call("collection.pack", PackCollection, PackedCollection, timeout_ms=20_000)
SOURCE_GET = Call("source.get", AskSource, SourceContent, timeout_ms=10_000)
COLLECTION_IMPORT = Call("collection.import", ImportSources, ImportedSources, timeout_ms=MAX_TOOL_MS)
"""Add the addresses of a file that another program has written."""
TEXT_LIST = Call("text.list", ListTexts, TextList, timeout_ms=10_000)
TEXT_GET = Call("text.get", AskText, TextInfo, timeout_ms=10_000)
PASSAGES = Call("collection.passages", SearchPassages, Passages, timeout_ms=10_000)
CAPTURE = Work("capture.work", DoCapture, share=SHARED_RUNNERS * 8, max_deliver=None)
"""A page that is to be read into a collection; whoever does it counts the attempts.

The supervisor sets how many of one key are in the queue by `captures_at_once`.
"""
TRANSFORM = Work("transform.work", DoTransform, share=4, max_deliver=None)
"""A text that is to be made of a collection; one key has half of the places of a runner at most."""

DELIVERY_LIST = Call("integration.list", ListDeliveries, DeliveryList, timeout_ms=10_000)
"""What other programs were told, dead letters among it."""
DELIVERY_GET = Call("integration.get", NamedDelivery, Delivery, timeout_ms=10_000)
DELIVERY_RESEND = Call("integration.resend", NamedDelivery, Delivery, timeout_ms=10_000)
DELIVERY_DROP = Call("integration.drop", NamedDelivery, Delivery, timeout_ms=10_000)
DELIVER = Work("integration.work", SendDelivery, share=8, max_deliver=None)
"""What another program is to be told; whoever does it counts the tries, and one key has half of the places of a runner
at most, so that one whose programs answer late delays nobody else."""

AGENT = Call("agent.run", RunAgent, AgentAnswered, timeout_ms=MAX_ANSWER_MS)
"""Reach a goal. Asked again in the same turn of a conversation, it goes on: what was done is not done again."""
AGENT_PLAN = Call("agent.plan", MakePlan, Planned, timeout_ms=MAX_TOOL_MS)
MAKE_TEXT = Call("transform.run", MakeText, MadeText, timeout_ms=MAX_ANSWER_MS)

INTERACT = Call("task.interact", Interact, InteractData, timeout_ms=120_000)
"""One round of a task on a page that its client has; the same round asked again is answered as before."""
ACT = Call("task.act", ReachOnPage, Reached, timeout_ms=MAX_ANSWER_MS)
"""Reach a goal on a page of a browser session. Asked again with the same task, it goes on."""
TASK_GET = Call("task.get", AskTask, TaskState, timeout_ms=10_000)
TASK_RESUME = Call("task.resume", ResumeTask, TaskState, timeout_ms=10_000)
CHAT_OPEN = Call("chat.open", OpenChat, ChatIsOpen, timeout_ms=10_000)
CHAT_CHANGE = Call("chat.change", ChangeChat, ChatInfo, timeout_ms=10_000)
CHAT_LIST = Call("chat.list", ListChats, ChatList, timeout_ms=10_000)
CHAT_MESSAGES = Call("chat.messages", AskMessages, ChatMessages, timeout_ms=10_000)

SUMMARIZE = Call("web.summarize", Summarize, Answered, timeout_ms=MAX_ANSWER_MS)
ANSWER = Call("web.answer", AskQuestion, Answered, timeout_ms=MAX_ANSWER_MS)
EXTRACT = Call("web.extract", ExtractData, Extracted, timeout_ms=MAX_ANSWER_MS)
CONVERSATION_LIST = Call("conversation.list", ListConversations, ConversationList, timeout_ms=10_000)
CONVERSATION_GET = Call("conversation.get", AskConversation, ConversationLog, timeout_ms=10_000)
VISIT_LIST = Call("visit.list", ListVisits, VisitList, timeout_ms=10_000)
VISIT_GET = Call("visit.get", AskVisit, KeptVisit, timeout_ms=10_000)

RECORDING_LIST = Call("conversation.recordings", ListRecordings, RecordingList, timeout_ms=20_000)
RECORDING_GET = Call("conversation.recording", AskRecording, ConversationRecording, timeout_ms=20_000)

CALL_MODEL = Call("model.call", CallModel, ModelAnswer, idempotent=False, timeout_ms=MAX_MODEL_MS)
"""Ask a model; the router alone has the keys of providers."""
ROUTES = Call("route.list", ListRoutes, RouteTable, timeout_ms=5_000)
ROUTE = Call("route.decide", AskRoute, RouteChange, timeout_ms=5_000)
"""Who would be asked, and why; nobody is."""
ROUTE_CONFIG = Call("route.config", AskRoute, RouteConfig, timeout_ms=5_000)
ROUTE_SET = Call("route.set", SetRoute, RouteChange, timeout_ms=5_000)
ROUTE_UNSET = Call("route.unset", UnsetRoute, RouteChange, timeout_ms=5_000)
ROUTE_METRICS = Call("route.metrics", AskMetrics, RouteMetrics, timeout_ms=10_000)
ROUTE_AUDIT = Call("route.audit", ListOptimizations, Optimizations, timeout_ms=10_000)
PATTERN_LIST = Call("pattern.list", ListPatterns, PatternList, timeout_ms=5_000)
PATTERN_SHOW = Call("pattern.show", AskPattern, PatternView, timeout_ms=5_000)
PATTERN_VERIFY = Call("pattern.verify", VerifyPattern, PatternVerdict, timeout_ms=MAX_LATENCY_MS)
"""Whether a pattern still makes a page as it is rendered."""
PATTERN_FORGET = Call("pattern.forget", AskPattern, ForgottenPattern, timeout_ms=10_000)
PATTERN_EXPORT = Call("pattern.export", ExportPatterns, PatternFile, timeout_ms=10_000)
PATTERN_IMPORT = Call("pattern.import", ImportPatterns, ImportedPatterns, timeout_ms=60_000)
PATTERN_FEEDBACK = Call("pattern.feedback", JudgePattern, PatternJudged, idempotent=False, timeout_ms=10_000)
API_CALL = Call("pattern.call", CallApi, ApiCalled, timeout_ms=60_000)
"""Ask the API of a pattern: what it reads only, and with the values of whoever asks."""
API_ASK = Call("web.api", AskApi, ApiAnswers, timeout_ms=60_000)
"""Send requests to an API like those for a page: behind the address guard, at the pace of its host."""

PROVIDERS = Call("provider.list", ListProviders, ProviderList, timeout_ms=5_000)
PROVIDER_TEST = Call("provider.test", NamedProvider, ProviderState, idempotent=False, timeout_ms=60_000)

COLLECTION_CHANGED = Event("events.collection.changed", CollectionChanged)
"""What has changed of a collection, for gateways whose clients follow it."""
APPROVAL_NEWS = Event("events.approval.news", Approval)
"""An approval waits, or was answered."""
PAGE_BROWSED = Event("events.web.browsed", PageBrowsed)
PAGE_SAMPLED = Event("events.web.sampled", SealedSample)
"""A page with what its scripts were answered, for the learner: told after the page was given, and it may be lost."""
PATTERN_USED = Event("events.pattern.used", PatternUsed)
"""A page was asked for by a pattern, and what came of it."""
PROGRESS = Event("events.progress.{replica}", Progress)
"""How far work is, told to the replica that waits for it (see Watch)."""
MODEL_TEXT = Event("events.model.text.{replica}", ModelText)
"""What a model has written further, told to the replica that waits for it (see Watch)."""
ANSWER_TEXT = Event("events.answer.text.{replica}", AnswerText)
"""What was written further of an answer, told to the replica of the gateway that waits for it."""
CALL_OUTCOME = Event("events.model.outcome", CallOutcome)
"""Whether what a model answered was found to be true; the router writes it down."""
OFFER_NEWS = Event("events.offers.news", OfferNews)
"""What has changed of what an actor brings to MCP."""
OFFER_SAID = Event("events.offers.said.{replica}", Said)
"""How far an offering actor is with what was asked of it, and what it logs, told to the replica that asked."""
CALL_CANCELLED = Event("events.edge.cancelled", CallCancelled)
"""Told to all replicas of the gateway: without sessions nobody knows which of them works on the call."""
PUSH_NEWS = Event("events.push.news", SealedPush)
"""What clients are told who are connected to a gateway, whichever it is; where another server has them, one replica
of the gateway tells it."""
RECORDED = Event("events.conversation.recorded", RecordedBatch)
"""What a replica has noted of conversations, where they are recorded; one keeper takes it, and nobody else hears it."""

REPLICA_READY = Event("events.actor.ready", ReplicaReady)
REPLICA_GONE = Event("events.actor.gone", ReplicaGone)
"""Told by who starts actors, and by no actor: one that was taken over could have a healthy one taken for dead."""
REPLICA_DRAINED = Event("events.actor.drained.{actor}", ReplicaDrained)
"""Told by each actor of itself alone."""
STORAGE_FILLED = Event("events.storage.filled", StorageFilled)
"""Told by who runs the NATS: nats-server itself answers nothing to what it cannot write."""


VAULT = Bucket("vault", VaultKeyMark)
"""Which vault key everything was sealed with; who makes what all others use looks there first."""

SESSIONS = Bucket("sessions", SavedSession, sealed=True)
"""The saved logins, by owner, profile and site; one actor alone has them."""

TIER_HISTORY = Bucket("tier-history", TierHistory, ttl_ms=180 * 86_400_000)
"""What visits have taught of the tiers that hosts need, by host; after half a year next to nothing of it counts."""

ABSENT_PAGES = Bucket("absent-pages", AbsentPage, ttl_ms=86_400_000)
"""What hosts with doubtful pages answer to an address that cannot exist, by host: asked once, and kept a day."""

HOST_TEXTS = Bucket("host-texts", HostTexts, ttl_ms=86_400_000)
"""Which addresses of hosts with doubtful pages gave the same text, by host: hashes alone."""

BROWSER_SESSIONS = Bucket("browser_sessions", BrowserRecord, ttl_ms=86_400_000, sealed=True)
"""The browser sessions by their ids: where each lives, and what it is restored from elsewhere."""

CAPTURES = Objects("captures", ttl_ms=86_400_000, max_bytes=512 * 1024 * 1024, sealed=True)
"""Screenshots, PDFs and downloads, for a day: who asked for them fetches them long before."""

ARTIFACTS = Objects("artifacts", ttl_ms=8 * 86_400_000, max_bytes=512 * 1024 * 1024, sealed=True)
"""The files that runs leave, in slices; the keeper deletes them when their time is over."""

RUN_KEYS = Bucket("run-keys", IdempotencyEntry, ttl_ms=IDEMPOTENCY_MS)
"""The run that an idempotency key stands for, by a hash of caller, template and key."""

LEDGER: Journal[LedgerLine] = Journal(
    "ledger", cast("type[LedgerLine]", LedgerLine), ttl_ms=7 * 86_400_000, max_bytes=512 * 1024 * 1024, sealed=True
)
"""What has happened to runs: they are continued from it, and the keeper's database is made of it."""

FLOWS = Bucket("flows", Flow, sealed=True)
"""The flows that callers have recorded, by caller and id; nothing of them is secret, and nobody else's business."""

ROUTE_OVERRIDES = Bucket("route-overrides", Override)
"""Which tools go to another model than the default table says, by pattern; every router watches it."""

LEARNER_TURN = Bucket("learner-turn", LearnerTurn)
"""Which replica of the learner acts, until when: on routes by the key `turn`, on patterns by `patterns`."""

PATTERNS = Bucket("patterns", PagePattern, ttl_ms=365 * 86_400_000, sealed=True)
"""What is learned of the APIs behind pages, by the id of the pattern; every navigator watches it."""

MODEL_SPEND = Bucket("model-spend", SpendTaken, ttl_ms=3 * 86_400_000)
"""What may be spent on models, by limit and day or run: every replica of the router takes its portions from it."""

MODEL_CALLS: Journal[CallLine] = Journal(
    "model-calls", cast("type[CallLine]", CallLine), ttl_ms=30 * 86_400_000, max_bytes=128 * 1024 * 1024, sealed=True
)
"""Every call of a model and what checks have found of it, by tool, and what was learned of them, in one order: the
figures, the state of the learner and the audit are made of it."""

CONVERSATIONS: Journal[ChatEvent] = Journal(
    "conversations", ChatEvent, ttl_ms=30 * 86_400_000, max_bytes=128 * 1024 * 1024, sealed=True
)
"""What was asked of pages and answered, by conversation; of pages no more than a digest and a beginning."""

COLLECTIONS: Journal[CollectionLine] = Journal(
    "collections", cast("type[CollectionLine]", CollectionLine), ttl_ms=None, max_bytes=4 * 1024**3, sealed=True
)
"""What has happened to collections, their sources and the texts of callers, which are made of it; nothing expires."""

TOOL_CALLS: Journal[ToolLine] = Journal(
    "tool-calls", cast("type[ToolLine]", ToolLine), ttl_ms=30 * 86_400_000, max_bytes=96 * 1024 * 1024, sealed=True
)
"""Every call of a tool: what was decided about it, who has answered, and what came of it, each line once."""

TASKS: Journal[TaskLine | ChatLine] = Journal(
    "tasks",
    cast("type[TaskLine | ChatLine]", TaskLine | ChatLine),
    ttl_ms=30 * 86_400_000,
    max_bytes=256 * 1024 * 1024,
    sealed=True,
)
"""What has happened to tasks on pages, and to the chat sessions that clients have them in: whoever goes on reads it."""

TASK_PICTURES = Objects("task-pictures", ttl_ms=3_600_000, max_bytes=128 * 1024**2, sealed=True)
"""The last picture that a client has sent of its page, by task: for the rounds in which it is as before."""

DELIVERIES = Bucket("deliveries", Delivery, ttl_ms=DELIVERY_MS, sealed=True)
"""What other programs were told, by caller and id, and what came of it."""

RECORDINGS = Journal("recordings", RecordedBatch, ttl_ms=86_400_000, max_bytes=128 * 1024**2, sealed=True)
"""What was noted of conversations, for a day; only keepers write and read it."""

PAGE_VISITS = Journal("page-visits", KeptVisit, ttl_ms=MAX_KEPT_DAYS * 86_400_000, max_bytes=512 * 1024**2, sealed=True)
"""The pages that callers have read without a login, as they were: each caller's history and index are made of it."""

VISIT_SCREENSHOTS = Objects(
    "visit-screenshots", ttl_ms=MAX_KEPT_DAYS * 86_400_000, max_bytes=256 * 1024**2, sealed=True
)
"""How pages looked in a browser when they were read, by the names that PAGE_VISITS has."""

KEYS = Bucket("keys", KeyRecord, sealed=True)
"""The keys that were given out, by their ids, each as its hash; every gateway watches them."""

KEY_ENDS = Bucket("key-ends", KeyEnd, sealed=True)
"""When the keys end that do not last for good, by caller: with a key end its logins and the right to use any."""

USAGE = Bucket("usage", UsageRecord, ttl_ms=100 * 86_400_000)
"""What each caller has used, by caller, day and replica of the gateway."""

OFFERS = Bucket("offers", Offer, ttl_ms=OFFER_TTL_MS)
"""What actors bring to MCP, by `name.replica`; whoever no longer repeats it is gone."""

HTTP_CACHE = Bucket("http-cache", KeptAnswers, ttl_ms=86_400_000, sealed=True)
"""Answers of sites, private to the session that got them; each key is a place that holds the last that came there."""

PACE = Bucket("pace", HostPace, ttl_ms=86_400_000)
"""How each host is being asked by everybody together."""

ROBOTS = Bucket("robots", RobotsFile, ttl_ms=30 * 86_400_000)
"""The robots.txt of each origin; a site that cannot be reached is judged by its last one (RFC 9309 §2.3.1.4)."""


def table() -> Iterator[tuple[str, Subject[Any] | Bucket[Any] | Objects | Journal[Any]]]:
    """Every entry of the table with its name, in the order in which it is written."""
    for name, entry in globals().items():
        if isinstance(entry, Subject | Bucket | Objects | Journal):
            yield name, entry
