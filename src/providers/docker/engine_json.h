// The engine's answers as structs.
#pragma once

#include "src/providers/docker/engine.h"
#include "src/providers/docker/json_fields.h"

namespace hodei::providers::docker {

EngineInfo info_of(const Json& info);
StringMap string_map_of(const Json& object);
ContainerFacts inspected(const Json& container);
ContainerFacts listed(const Json& container);

// The version to speak, as a prefix of paths, from what GET /version says.
std::string version_prefix(const Json& version);

// The filters of a list request: {"label":["a=b"],"type":["container"]}
std::string filters(const StringMap& labels, bool events);

// Takes whole lines out of a stream of JSON objects.
class JsonLines {
 public:
  // False: a line is longer than anything the engine sends.
  bool add(std::string_view piece, const std::function<void(const Json&)>& each);

 private:
  std::string rest_;
};

}  // namespace hodei::providers::docker
