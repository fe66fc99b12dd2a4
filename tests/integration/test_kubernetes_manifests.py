"""deploy/kubernetes: what stands there is what the API takes, fits together, and gives the provider its rights, no more."""

import re
import shutil
import subprocess

import openapi
import yaml
from harness import ROOT, check, same
from kube_schema import FILE

FOLDER = ROOT / "deploy/kubernetes"
CORE = "#/components/schemas/io.k8s.api.core.v1."


def documents(path):
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


def base():
    listed = documents(FOLDER / "base/kustomization.yaml")[0]["resources"]
    return [one for name in listed for one in documents(FOLDER / "base" / name)]


def find(kind, name, items=None):
    return next(one for one in items or base() if one["kind"] == kind and one["metadata"]["name"] == name)


def judge(items):
    """Complaints about what the official description knows; it knows the core (v1) and what pods are made of."""
    path = openapi.test_data(*FILE)
    if not path:
        return []
    description, wrong = openapi.load(path), []
    for one in items:
        where = f"{one['kind']} {one['metadata']['name']}"
        if one["apiVersion"] == "v1":
            wrong += description.check_value(one, {"$ref": CORE + one["kind"]}, where)
        elif one["kind"] == "Deployment":
            wrong += description.check_value(one["spec"]["template"], {"$ref": CORE + "PodTemplateSpec"}, where)
    return wrong


def test_the_manifests_are_what_the_api_takes():
    same(judge(base()), [], "complaints")
    broken = find("Deployment", "hodei-server")
    broken["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Never"
    if openapi.test_data(*FILE):
        check(judge([broken]), "a field that is misspelt was not found")


def test_every_file_is_used():
    for folder in (FOLDER / "base", *sorted((FOLDER / "overlays").iterdir())):
        used = documents(folder / "kustomization.yaml")[0]
        named = set(used["resources"]) | {one["path"] for one in used.get("patches", [])} | {"kustomization.yaml", "../../base"}
        same({path.name for path in folder.iterdir()} - named, set(), f"files of {folder.name} that nothing uses")


def test_the_role_gives_the_rights_that_the_health_check_asks_for():
    source = (ROOT / "src/providers/kubernetes/health.cc").read_text()
    asked = {(verb, f"{resource}/{sub}" if sub else resource)
             for verb, resource, sub in re.findall(r'\{"(\w+)", "(\w+)", "(\w*)", (?:true|false)\}', source)}
    given = {(verb, resource) for rule in find("Role", "hodei-provider")["rules"]
             for verb in rule["verbs"] for resource in rule["resources"]}
    check(len(asked) > 5, f"the rights of the health check were not found in its source: {asked}")
    same(given, asked, "rights of the role, beside those that the provider asks for")


def test_names_and_labels_fit_together():
    server = find("Deployment", "hodei-server")
    labels = server["spec"]["template"]["metadata"]["labels"]
    same(server["spec"]["selector"]["matchLabels"], labels, "selector of the deployment")
    same(find("Service", "hodei")["spec"]["selector"], labels, "selector of the service")
    same(find("PodDisruptionBudget", "hodei-server")["spec"]["selector"]["matchLabels"], labels, "selector of the budget")
    settings = find("ConfigMap", "hodei-server")
    container = server["spec"]["template"]["spec"]["containers"][0]
    same(container["envFrom"][0]["configMapRef"]["name"], settings["metadata"]["name"], "the settings")
    same(find("Role", "hodei-provider")["metadata"]["namespace"], settings["data"]["HODEI_K8S_NAMESPACE"], "the workers' namespace")
    names = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        check(container[probe]["httpGet"]["port"] in names, f"{probe} asks a port that is not there")
    claims = [v["persistentVolumeClaim"]["claimName"] for v in server["spec"]["template"]["spec"]["volumes"] if "persistentVolumeClaim" in v]
    same(claims, [find("PersistentVolumeClaim", "hodei-data")["metadata"]["name"]], "the volume")


def test_overlays_can_be_rendered():
    if not shutil.which("kubectl"):
        print("  skipped: overlays are not rendered: there is no kubectl here")
        return
    for overlay in sorted((FOLDER / "overlays").iterdir()):
        done = subprocess.run(["kubectl", "kustomize", str(overlay)], capture_output=True, text=True, timeout=60, check=False)
        same(done.returncode, 0, f"kubectl kustomize {overlay.name}: {done.stderr}")
        items = list(yaml.safe_load_all(done.stdout))
        check(len(items) >= len(base()), f"{overlay.name} lost something of the base")
        same(judge(items), [], f"complaints about {overlay.name}")
