// One line of the table of calls: what is known about a call without looking into it. Everything that concerns all
// calls is made from the table: the binding to gRPC, later REST and its description, forwarding to the leader,
// authorization.
//
// Each service has its lines in its own folder, as a function template of its struct (all_calls.h) that shows them to a
// visitor:
//
//   template <class Visitor>
//   static void lines(Visitor& v) {
//     v.unary({"GetNote", Who::Viewer, By::Store, Http::Get, "/api/v1/notes/{name}"}, get_note);
//     v.source({"WatchNotes", Who::Viewer, By::Events, Http::Get, "/api/v1/notes:watch"}, watch_notes);
//     v.by_hand({"SendNotes", Who::Operator, By::Loop});
//   }
//
// unary():   void get_note(const NotePorts&, const Call&, const Request&, Answer<Response>)
// source():  SourceOr<Response> watch_notes(const NotePorts&, const Call&, const Request&)
// by_hand(): each transport has its own code for it, because the client streams.
#pragma once

#include <cstdint>
#include <string_view>

namespace hodei::api {

// Who may call. An operator may do what a viewer may, an admin what both may.
enum class Who : uint8_t {
  Viewer = 1,        // reads jobs, output, metrics
  Operator,          // queues, cancels and retries jobs; templates, artifacts
  OperatorOrWorker,  // and the worker of an execution, for the files of its job
  Admin,             // workers, providers, scheduler, secrets, audit trail
  Scheduler,         // an admin, or a program with a scheduler's token
  Worker,            // a worker, with its session
  TokenHolder,       // whoever has the one-time token that the request names
};

// What answers it.
enum class By : uint8_t {
  Loop = 1,   // the engine decides; the answer leaves when the decision is durable
  Store,      // committed state, read beside the loop
  Files,      // output, artifacts or input, beside the loop
  Events,     // what happens, as it happens
  Providers,  // a provider is asked
};

enum class Http : uint8_t { None, Get, Post, Put, Patch, Delete };

// Whether the call may have to wait for something that the server cannot hurry: then whoever cancels it is heard.
enum class Waits : uint8_t { No, Yes };

// Whether what it did is in the audit trail.
enum class Audited : uint8_t { No, Yes };

struct CallLine {
  std::string_view name;  // of the RPC
  Who who{};
  By by{};
  Http verb = Http::None;
  std::string_view path = {};  // {field} is a field of the request, {a.b} of a message in it; =** may have slashes
  Audited audited = Audited::No;
  Waits waits = Waits::No;
};

}  // namespace hodei::api
