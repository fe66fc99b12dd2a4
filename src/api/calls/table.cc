#include "src/api/calls/table.h"

#include <type_traits>

#include "src/api/calls/all_calls.h"

namespace hodei::api {
namespace {

// Writes down the lines of one service.
class LineWriter {
 public:
  LineWriter(std::string_view service, std::vector<TableLine>& out) : service_(service), out_(out) {}

  template <class Function>
  void unary(const CallLine& line, Function*) {
    out_.push_back({service_, line, CallKind::Unary});
  }
  template <class Function>
  void source(const CallLine& line, Function*) {
    out_.push_back({service_, line, CallKind::Source});
  }
  void by_hand(const CallLine& line) { out_.push_back({service_, line, CallKind::ByHand}); }

 private:
  const std::string_view service_;
  std::vector<TableLine>& out_;
};

std::vector<TableLine> whole_table() {
  std::vector<TableLine> out;
  core::each_type(AllServices{}, [&out]<class Service>(std::type_identity<Service>) {
    LineWriter writer(Service::service, out);
    Service::lines(writer);
  });
  return out;
}

}  // namespace

const std::vector<TableLine>& call_table() {
  static const std::vector<TableLine> table = whole_table();
  return table;
}

}  // namespace hodei::api
