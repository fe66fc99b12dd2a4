// The state table of a worker (docs/semantics.md#worker-states). Being unhealthy or connected is independent of the
// state.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hodei::core {

enum class WorkerState : uint8_t { Creating = 1, Connecting, Ready, Busy, Draining, Terminating, Terminated };
inline constexpr size_t kWorkerStates = 7;

enum class WorkerEvent : uint8_t { Appear = 1, Open, Occupy, Empty, Drain, Undrain, Leave, Expire, Gone };

struct WorkerEdge {
  WorkerState from;
  WorkerEvent on;
  WorkerState to;
};

inline constexpr WorkerEdge kWorkerEdges[] = {
    {WorkerState::Creating, WorkerEvent::Appear, WorkerState::Connecting},
    {WorkerState::Connecting, WorkerEvent::Open, WorkerState::Ready},
    {WorkerState::Ready, WorkerEvent::Occupy, WorkerState::Busy},
    {WorkerState::Busy, WorkerEvent::Empty, WorkerState::Ready},
    {WorkerState::Ready, WorkerEvent::Drain, WorkerState::Draining},
    {WorkerState::Busy, WorkerEvent::Drain, WorkerState::Draining},
    {WorkerState::Connecting, WorkerEvent::Drain, WorkerState::Draining},
    {WorkerState::Draining, WorkerEvent::Undrain, WorkerState::Ready},
    {WorkerState::Draining, WorkerEvent::Leave, WorkerState::Terminating},
    {WorkerState::Ready, WorkerEvent::Leave, WorkerState::Terminating},
    {WorkerState::Busy, WorkerEvent::Leave, WorkerState::Terminating},
    {WorkerState::Connecting, WorkerEvent::Leave, WorkerState::Terminating},
    {WorkerState::Creating, WorkerEvent::Expire, WorkerState::Terminating},
    {WorkerState::Connecting, WorkerEvent::Expire, WorkerState::Terminating},
    {WorkerState::Terminating, WorkerEvent::Gone, WorkerState::Terminated},
};

constexpr std::optional<WorkerState> next(WorkerState from, WorkerEvent on) {
  if (on == WorkerEvent::Gone && from != WorkerState::Terminated) return WorkerState::Terminated;
  for (const WorkerEdge& edge : kWorkerEdges) {
    if (edge.from == from && edge.on == on) return edge.to;
  }
  return std::nullopt;
}

constexpr bool takes_work(WorkerState s) { return s == WorkerState::Ready || s == WorkerState::Busy; }

constexpr std::string_view name(WorkerState s) {
  switch (s) {
    case WorkerState::Creating: return "Creating";
    case WorkerState::Connecting: return "Connecting";
    case WorkerState::Ready: return "Ready";
    case WorkerState::Busy: return "Busy";
    case WorkerState::Draining: return "Draining";
    case WorkerState::Terminating: return "Terminating";
    case WorkerState::Terminated: return "Terminated";
  }
  return "?";
}

static_assert(next(WorkerState::Busy, WorkerEvent::Empty) == WorkerState::Ready);
static_assert(!next(WorkerState::Draining, WorkerEvent::Occupy), "a draining worker gets no new work");

}  // namespace hodei::core
