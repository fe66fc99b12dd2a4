// Helpers for calls that are answered by the loop.
#pragma once

#include <utility>
#include <variant>

#include "src/api/calls/call.h"
#include "src/api/calls/ports.h"

namespace hodei::api {

// Posts a command; `fill` turns the reply of type R into the response when it comes.
template <class R, class Response, class Fill>
void decide(Commands& commands, const Call& call, core::Command command, Answer<Response> answer, Fill fill,
            Commands::Lane lane = Commands::Lane::Quick) {
  commands.post_bounded(
      call.envelope, std::move(command),
      [answer = std::move(answer), fill = std::move(fill)](const absl::StatusOr<core::Reply>& reply) {
        if (reply.ok()) fill(std::get<R>(*reply));
        answer.give(reply.status());
      },
      lane);
}

}  // namespace hodei::api
