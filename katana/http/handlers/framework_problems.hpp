// The types of the problem documents that KATANA itself makes (RFC 9457 §3.1.1). Clients compare
// `type`, which stays when a status or a text changes.
//
//   return problem(problem_types::no_route, "No route matches GET /nowhere.");
//
// docs/reference/errors.md lists them: tools/docs reads this file. A comment has two parts: when
// the server sends the problem, and what the client can do. The title is the name of the status.
//
// Borrows    literals.
// Thread     constants.
// Allocates  as problem().
// Fails      never.
#pragma once

#include "katana/http/handlers/problem_type.hpp"

namespace katana {
namespace problem_types {

// The request breaks a rule of HTTP, which `detail` names: a malformed header, target or chunk, or
// an end in the middle.
// Client: Correct the client, or the proxy in front of the server. A retry fails again.
inline constexpr ProblemType malformed_request{
    .uri = "urn:katana:problem:malformed-request", .status = 400, .title = "Bad Request"};
// The body cannot be read: it is not JSON, not the form of its `Content-Type`, or not in its
// `Content-Encoding`.
// Client: Send a complete and well-formed body.
inline constexpr ProblemType malformed_body{
    .uri = "urn:katana:problem:malformed-body", .status = 400, .title = "Bad Request"};
// A parameter of the path, query, headers, cookies or form is missing, unknown, or has a wrong
// value. `errors` lists each with its name.
// Client: Correct the parameters that `errors` names.
inline constexpr ProblemType invalid_parameter{
    .uri = "urn:katana:problem:invalid-parameter", .status = 400, .title = "Bad Request"};
// The request has a header for credentials more than once.
// Client: Send the credentials once.
inline constexpr ProblemType malformed_credentials{
    .uri = "urn:katana:problem:malformed-credentials", .status = 400, .title = "Bad Request"};
// The answer of the identity provider belongs to no login that this browser began, or the login
// took too long.
// Client: Begin the login again.
inline constexpr ProblemType login_expired{
    .uri = "urn:katana:problem:login-expired", .status = 400, .title = "Bad Request"};
// The route requires the header `Idempotency-Key`, and the request has none.
// Client: Send a new key with each new request, and the same key with its retries.
inline constexpr ProblemType idempotency_key_missing{
    .uri = "urn:katana:problem:idempotency-key-missing", .status = 400, .title = "Bad Request"};
// The header `Idempotency-Key` is not one quoted string of 1 to 255 characters.
// Client: Send the key once, in quotes.
inline constexpr ProblemType idempotency_key_malformed{
    .uri = "urn:katana:problem:idempotency-key-malformed", .status = 400, .title = "Bad Request"};
// The request to a WebSocket route is not a valid handshake.
// Client: Correct the client. Over HTTP/1.1 send `Upgrade: websocket`, over HTTP/2 `CONNECT` with
// `:protocol`.
inline constexpr ProblemType malformed_handshake{
    .uri = "urn:katana:problem:malformed-handshake", .status = 400, .title = "Bad Request"};
// The request has no credentials, or their check failed. `WWW-Authenticate` names the schemes.
// Client: Log in, or send valid credentials.
inline constexpr ProblemType login_needed{
    .uri = "urn:katana:problem:login-needed", .status = 401, .title = "Unauthorized"};
// The client is known, and a policy denies the action; or the server may not read the file.
// Client: Use an account with the right to do it. A retry fails again.
inline constexpr ProblemType forbidden{
    .uri = "urn:katana:problem:forbidden", .status = 403, .title = "Forbidden"};
// A page of another origin opens a WebSocket.
// Client: Open it from a page of the same origin, or have the server list the origin.
inline constexpr ProblemType origin_not_allowed{
    .uri = "urn:katana:problem:origin-not-allowed", .status = 403, .title = "Forbidden"};
// The request may come from a page of another site. Its origin is another one or is unknown, or its
// form token is missing or old.
// Client: Load the page again and send the form from it. A script sends the token as
// `X-CSRF-Token`.
inline constexpr ProblemType csrf{
    .uri = "urn:katana:problem:csrf", .status = 403, .title = "Forbidden"};
// No route matches the path.
// Client: Check the path and the server's address.
inline constexpr ProblemType no_route{
    .uri = "urn:katana:problem:no-route", .status = 404, .title = "Not Found"};
// The route exists, and the file or resource does not, or a policy hides it.
// Client: Check the name of the file or resource.
inline constexpr ProblemType not_found{
    .uri = "urn:katana:problem:not-found", .status = 404, .title = "Not Found"};
// The path has routes, and none for this method. `Allow` lists the methods.
// Client: Use one of the methods in `Allow`.
inline constexpr ProblemType method_not_served{
    .uri = "urn:katana:problem:method-not-served", .status = 405, .title = "Method Not Allowed"};
// The server has no form of the reply that `Accept` or `Accept-Encoding` takes.
// Client: Accept more media types or codings.
inline constexpr ProblemType not_acceptable{
    .uri = "urn:katana:problem:not-acceptable", .status = 406, .title = "Not Acceptable"};
// The head or the body of the request came too slowly.
// Client: Retry on a faster connection, or with a smaller body.
inline constexpr ProblemType request_timeout{
    .uri = "urn:katana:problem:request-timeout", .status = 408, .title = "Request Timeout"};
// A request with the same `Idempotency-Key` still runs.
// Client: Send the same request again after `Retry-After`, to get its reply.
inline constexpr ProblemType idempotency_key_in_progress{
    .uri = "urn:katana:problem:idempotency-key-in-progress", .status = 409, .title = "Conflict"};
// The request with this `Idempotency-Key` was carried out, and its reply was not stored.
// Client: Do not repeat it. Ask for its result with another request.
inline constexpr ProblemType idempotency_reply_lost{
    .uri = "urn:katana:problem:idempotency-reply-lost", .status = 409, .title = "Conflict"};
// Another profile of the process is being made.
// Client: Ask again after `ends_at`.
inline constexpr ProblemType profile_in_progress{
    .uri = "urn:katana:problem:profile-in-progress", .status = 409, .title = "Conflict"};
// A file has the name that an upload gives.
// Client: Choose another name.
inline constexpr ProblemType file_exists{
    .uri = "urn:katana:problem:file-exists", .status = 409, .title = "Conflict"};
// `If-Match` or `If-Unmodified-Since` names another version than the current one.
// Client: Load the current version, apply the change, and send it again.
inline constexpr ProblemType precondition_failed{
    .uri = "urn:katana:problem:precondition-failed", .status = 412, .title = "Precondition Failed"};
// The route changes a resource only for a client that names the version it knows.
// Client: Get the resource, and send its `ETag` in `If-Match`.
inline constexpr ProblemType precondition_required{
    .uri = "urn:katana:problem:precondition-required",
    .status = 428,
    .title = "Precondition Required"};
// The body, a part of a form, or the decoded body is larger than the route accepts.
// Client: Send a smaller body.
inline constexpr ProblemType content_too_large{
    .uri = "urn:katana:problem:content-too-large", .status = 413, .title = "Content Too Large"};
// The request line is longer than the server accepts.
// Client: Put long values into the body.
inline constexpr ProblemType target_too_long{
    .uri = "urn:katana:problem:target-too-long", .status = 414, .title = "URI Too Long"};
// The route does not take the `Content-Type`. `Accept` in the reply lists the types that it takes.
// Client: Send one of the types in `Accept`.
inline constexpr ProblemType unsupported_media_type{
    .uri = "urn:katana:problem:unsupported-media-type",
    .status = 415,
    .title = "Unsupported Media Type"};
// The server cannot decode the `Content-Encoding`. `Accept-Encoding` in the reply lists the
// codings.
// Client: Send one of the codings in `Accept-Encoding`, or no coding.
inline constexpr ProblemType unsupported_coding{.uri = "urn:katana:problem:unsupported-coding",
                                                .status = 415,
                                                .title = "Unsupported Media Type"};
// `Range` begins after the end of the file. `Content-Range` has its size.
// Client: Ask for bytes within the size.
inline constexpr ProblemType range_not_satisfiable{
    .uri = "urn:katana:problem:range-not-satisfiable",
    .status = 416,
    .title = "Range Not Satisfiable"};
// `Expect` has another value than `100-continue`.
// Client: Send no `Expect`, or `100-continue`.
inline constexpr ProblemType unknown_expectation{
    .uri = "urn:katana:problem:unknown-expectation", .status = 417, .title = "Expectation Failed"};
// The server does not serve the host name or the scheme of the request.
// Client: Use the server's own name. The operator adds further names to `http.hosts`.
inline constexpr ProblemType misdirected{
    .uri = "urn:katana:problem:misdirected", .status = 421, .title = "Misdirected Request"};
// The body is well-formed, and its values break the rules of the route. `errors` lists each with
// its place.
// Client: Correct the values that `errors` names.
inline constexpr ProblemType validation{
    .uri = "urn:katana:problem:validation", .status = 422, .title = "Unprocessable Content"};
// The `Idempotency-Key` belongs to a request with another body, `Content-Type` or target.
// Client: Send a new key with this request.
inline constexpr ProblemType idempotency_key_reused{
    .uri = "urn:katana:problem:idempotency-key-reused",
    .status = 422,
    .title = "Unprocessable Content"};
// The route serves WebSocket only, and the request asks for something else.
// Client: Open a WebSocket of version 13. A proxy must forward `Upgrade`.
inline constexpr ProblemType websocket_required{
    .uri = "urn:katana:problem:websocket-required", .status = 426, .title = "Upgrade Required"};
// The client sends more requests than its limit, or has too many in progress.
// Client: Wait as long as `Retry-After` says, then retry. Send fewer requests at a time.
inline constexpr ProblemType rate_limited{
    .uri = "urn:katana:problem:rate-limited", .status = 429, .title = "Too Many Requests"};
// The headers, cookies or trailers are larger, or more, than the server accepts.
// Client: Send fewer or shorter headers. A browser deletes cookies.
inline constexpr ProblemType head_too_large{.uri = "urn:katana:problem:head-too-large",
                                            .status = 431,
                                            .title = "Request Header Fields Too Large"};
// The server failed. Its log has the cause, at the `request_id`.
// Client: Report the `X-Request-Id` of the reply. A retry may fail again.
inline constexpr ProblemType internal_error{
    .uri = "urn:katana:problem:internal-error", .status = 500, .title = "Internal Server Error"};
// The server does not have this part of HTTP, or the operation is described and has no handler.
// Client: Do without it.
inline constexpr ProblemType not_implemented{
    .uri = "urn:katana:problem:not-implemented", .status = 501, .title = "Not Implemented"};
// Something that the request needs is not available: the database, Redis, a file, keys of an
// issuer, or another service.
// Client: Retry after `Retry-After`.
inline constexpr ProblemType unavailable{
    .uri = "urn:katana:problem:unavailable", .status = 503, .title = "Service Unavailable"};
// The route runs as many requests as it may, and its queue is full.
// Client: Retry after `Retry-After`.
inline constexpr ProblemType too_many_running{
    .uri = "urn:katana:problem:too-many-running", .status = 503, .title = "Service Unavailable"};
// The server has more requests than it can answer in time.
// Client: Retry after `Retry-After`, with a growing delay.
inline constexpr ProblemType overloaded{
    .uri = "urn:katana:problem:overloaded", .status = 503, .title = "Service Unavailable"};
// The server has no memory for the request at present.
// Client: Retry after `Retry-After`.
inline constexpr ProblemType memory_scarce{
    .uri = "urn:katana:problem:memory-scarce", .status = 503, .title = "Service Unavailable"};
// The kernel, or the sandbox of a container, refuses the timers of a profile.
// Client: Allow the call that `detail` names.
inline constexpr ProblemType profile_refused{
    .uri = "urn:katana:problem:profile-refused", .status = 503, .title = "Service Unavailable"};
// The handler did not reply within its timeout. It may have carried out a part of the request.
// Client: Retry if the request is safe to repeat.
inline constexpr ProblemType handler_timeout{
    .uri = "urn:katana:problem:handler-timeout", .status = 503, .title = "Service Unavailable"};
// The server shuts down.
// Client: Connect again: another process or server takes the request.
inline constexpr ProblemType stopping{
    .uri = "urn:katana:problem:stopping", .status = 503, .title = "Service Unavailable"};
// A database or another server did not reply within the time of the request.
// Client: Retry if the request is safe to repeat.
inline constexpr ProblemType deadline_exceeded{
    .uri = "urn:katana:problem:deadline-exceeded", .status = 504, .title = "Gateway Timeout"};
// The request is of another version than HTTP/1.0 and HTTP/1.1, or is not HTTP.
// Client: Use HTTP/1.1 or HTTP/2.
inline constexpr ProblemType unsupported_version{.uri = "urn:katana:problem:unsupported-version",
                                                 .status = 505,
                                                 .title = "HTTP Version Not Supported"};
// The disk or the quota of the server has no room for an upload.
// Client: Retry later, or tell the operator.
inline constexpr ProblemType storage_full{
    .uri = "urn:katana:problem:storage-full", .status = 507, .title = "Insufficient Storage"};

}  // namespace problem_types

namespace detail {

// The problem that a session reports as a status and a text.
Reply refusal_problem(unsigned status, Bytes detail);
// The status of an Error as a problem. KATANA has types for failures of the server; the meaning of
// other statuses is that of the program, and they have none.
Reply error_problem(unsigned status, Bytes detail);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
