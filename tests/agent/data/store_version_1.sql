PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE messages (
        seq INTEGER PRIMARY KEY,
        segment_id TEXT NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        role TEXT NOT NULL,
        call_id TEXT,
        body TEXT NOT NULL
    );
INSERT INTO "messages" VALUES(1,'s1',1,'user',NULL,'{"role": "user", "content": "Please mend the tokenizer of The lexer."}');
INSERT INTO "messages" VALUES(2,'s1',1,'assistant',NULL,'{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a\"}"}}]}');
INSERT INTO "messages" VALUES(3,'s1',1,'tool','c1','{"role": "tool", "tool_call_id": "c1", "name": "read_file", "content": "the tokenizer in a file"}');
INSERT INTO "messages" VALUES(4,'s1',1,'assistant',NULL,'{"role": "assistant", "content": "Mended: a comma was lost."}');
INSERT INTO "messages" VALUES(5,'s2',1,'user',NULL,'{"role": "user", "content": "Please mend the tokenizer of Numbers."}');
INSERT INTO "messages" VALUES(6,'s2',1,'assistant',NULL,'{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a\"}"}}]}');
INSERT INTO "messages" VALUES(7,'s2',1,'tool','c2','{"role": "tool", "tool_call_id": "c2", "name": "read_file", "content": "the tokenizer in a file"}');
INSERT INTO "messages" VALUES(8,'s2',1,'assistant',NULL,'{"role": "assistant", "content": "Mended: a comma was lost."}');
INSERT INTO "messages" VALUES(9,'s3',1,'user',NULL,'{"role": "user", "content": "Please mend the tokenizer of Elsewhere."}');
INSERT INTO "messages" VALUES(10,'s3',1,'assistant',NULL,'{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a\"}"}}]}');
INSERT INTO "messages" VALUES(11,'s3',1,'tool','c3','{"role": "tool", "tool_call_id": "c3", "name": "read_file", "content": "the tokenizer in a file"}');
INSERT INTO "messages" VALUES(12,'s3',1,'assistant',NULL,'{"role": "assistant", "content": "Mended: a comma was lost."}');
CREATE TABLE segments (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        parent_segment_id TEXT,
        created_at TEXT NOT NULL
    );
INSERT INTO "segments" VALUES(1,'s1','s1',NULL,'2026-01-01T00:00:00.000000Z');
INSERT INTO "segments" VALUES(2,'s2','s2',NULL,'2026-01-02T00:00:00.000000Z');
INSERT INTO "segments" VALUES(3,'s3','s3',NULL,'2026-01-03T00:00:00.000000Z');
CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        cwd TEXT NOT NULL,
        roots TEXT NOT NULL,
        title TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        options TEXT NOT NULL,
        prompted INTEGER NOT NULL,
        system_prompt TEXT NOT NULL
    );
INSERT INTO "sessions" VALUES('s1','/p','[]','The lexer','2026-01-01T00:00:00.000000Z','2026-01-01T00:00:00.000000Z','{}',1,'');
INSERT INTO "sessions" VALUES('s2','/p','[]','Numbers','2026-01-02T00:00:00.000000Z','2026-01-02T00:00:00.000000Z','{}',1,'');
INSERT INTO "sessions" VALUES('s3','/q','[]','Elsewhere','2026-01-03T00:00:00.000000Z','2026-01-03T00:00:00.000000Z','{}',1,'');
CREATE TABLE transcript (
        seq INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL
    );
INSERT INTO "transcript" VALUES(1,'s1',1,'user_prompted','{"message": {"role": "user", "content": "Please"}, "message_id": "m1"}');
INSERT INTO "transcript" VALUES(2,'s1',1,'plan','{"entries": [{"content": "mend", "status": "completed", "priority": "medium", "id": ""}]}');
INSERT INTO "transcript" VALUES(3,'s2',1,'user_prompted','{"message": {"role": "user", "content": "Please"}, "message_id": "m2"}');
INSERT INTO "transcript" VALUES(4,'s2',1,'plan','{"entries": [{"content": "mend", "status": "completed", "priority": "medium", "id": ""}]}');
INSERT INTO "transcript" VALUES(5,'s3',1,'user_prompted','{"message": {"role": "user", "content": "Please"}, "message_id": "m3"}');
INSERT INTO "transcript" VALUES(6,'s3',1,'plan','{"entries": [{"content": "mend", "status": "completed", "priority": "medium", "id": ""}]}');
CREATE INDEX sessions_listed ON sessions (updated_at, id) WHERE prompted = 1;
CREATE INDEX sessions_listed_by_cwd ON sessions (cwd, updated_at, id) WHERE prompted = 1;
CREATE INDEX segments_of_session ON segments (session_id);
CREATE INDEX messages_of_segment ON messages (segment_id);
CREATE INDEX transcript_of_session ON transcript (session_id);
COMMIT;
