package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"llmsweep/sweep/cluster"
	"llmsweep/sweep/rundir"
)

// The parts of the objects of Kubernetes that a manifest needs. Their types are those of https://kubernetes.io/docs/reference/kubernetes-api/;
// a test validates what is written against the published schemas.
type (
	object struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   metadata          `yaml:"metadata"`
		Type       string            `yaml:"type,omitempty"`
		StringData map[string]string `yaml:"stringData,omitempty"`
		Spec       any               `yaml:"spec,omitempty"`
	}
	metadata struct {
		Name      string            `yaml:"name,omitempty"`
		Namespace string            `yaml:"namespace,omitempty"`
		Labels    map[string]string `yaml:"labels,omitempty"`
	}
	serviceSpec struct {
		ClusterIP    string            `yaml:"clusterIP"`
		NotReadyToo  bool              `yaml:"publishNotReadyAddresses"`
		Selector     map[string]string `yaml:"selector"`
		ServicePorts []servicePort     `yaml:"ports"`
	}
	servicePort struct {
		Name string `yaml:"name"`
		Port int    `yaml:"port"`
	}
	jobSpec struct {
		CompletionMode string      `yaml:"completionMode"`
		Completions    int         `yaml:"completions"`
		Parallelism    int         `yaml:"parallelism"`
		PerIndex       int         `yaml:"backoffLimitPerIndex"`
		Deadline       int         `yaml:"activeDeadlineSeconds"`
		TTL            int         `yaml:"ttlSecondsAfterFinished"`
		Template       podTemplate `yaml:"template"`
	}
	podTemplate struct {
		Metadata metadata `yaml:"metadata"`
		Spec     podSpec  `yaml:"spec"`
	}
	podSpec struct {
		Subdomain     string      `yaml:"subdomain"`
		RestartPolicy string      `yaml:"restartPolicy"`
		MountToken    bool        `yaml:"automountServiceAccountToken"`
		Security      podSecurity `yaml:"securityContext"`
		Spread        []spread    `yaml:"topologySpreadConstraints"`
		Containers    []container `yaml:"containers"`
		Volumes       []volume    `yaml:"volumes"`
	}
	podSecurity struct {
		NonRoot bool    `yaml:"runAsNonRoot"`
		User    int     `yaml:"runAsUser"`
		Group   int     `yaml:"runAsGroup"`
		FSGroup int     `yaml:"fsGroup"`
		Seccomp seccomp `yaml:"seccompProfile"`
	}
	seccomp struct {
		Type string `yaml:"type"`
	}
	spread struct {
		MaxSkew     int      `yaml:"maxSkew"`
		TopologyKey string   `yaml:"topologyKey"`
		Otherwise   string   `yaml:"whenUnsatisfiable"`
		Selector    selector `yaml:"labelSelector"`
	}
	selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	container struct {
		Name      string            `yaml:"name"`
		Image     string            `yaml:"image"`
		Command   []string          `yaml:"command,omitempty"`
		Args      []string          `yaml:"args,omitempty"`
		Env       []variable        `yaml:"env,omitempty"`
		Ports     []containerPort   `yaml:"ports,omitempty"`
		Resources resources         `yaml:"resources"`
		Security  containerSecurity `yaml:"securityContext"`
		Mounts    []mount           `yaml:"volumeMounts"`
	}
	variable struct {
		Name  string         `yaml:"name"`
		Value string         `yaml:"value,omitempty"`
		From  *variableValue `yaml:"valueFrom,omitempty"`
	}
	variableValue struct {
		Secret secretKey `yaml:"secretKeyRef"`
	}
	secretKey struct {
		Name string `yaml:"name"`
		Key  string `yaml:"key"`
	}
	containerPort struct {
		Name string `yaml:"name"`
		Port int    `yaml:"containerPort"`
	}
	resources struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	}
	containerSecurity struct {
		Escalation bool         `yaml:"allowPrivilegeEscalation"`
		ReadOnly   bool         `yaml:"readOnlyRootFilesystem"`
		Rights     capabilities `yaml:"capabilities"`
	}
	capabilities struct {
		Drop []string `yaml:"drop"`
	}
	mount struct {
		Name string `yaml:"name"`
		Path string `yaml:"mountPath"`
	}
	volume struct {
		Name  string         `yaml:"name"`
		Empty *struct{}      `yaml:"emptyDir,omitempty"`
		Claim *claimedVolume `yaml:"persistentVolumeClaim,omitempty"`
	}
	claimedVolume struct {
		Name string `yaml:"claimName"`
	}
)

const (
	runs       = "/runs" // where the image of examples/docker works
	user       = 65534   // the user of that image, without rights
	jobLabel   = "batch.kubernetes.io/job-name"
	indexLabel = "batch.kubernetes.io/job-completion-index"
	keptFor    = 24 * 60 * 60 // seconds that Job and log are kept after the end
	tokenKey   = "token"
)

// waitForCopy keeps the pod of rank 0 until the Job is deleted or its time is over, so that the run directory can be copied.
const waitForCopy = `trap 'exit 0' TERM; if [ "$JOB_COMPLETION_INDEX" = 0 ]; then sleep 86400 & wait; fi`

// Kubernetes returns the manifests for kubectl apply: a Secret with the token of the ranks, a headless Service, by which they find rank 0, and
// an Indexed Job. All of them are in one namespace.
func (o *LaunchOptions) Kubernetes() (string, error) {
	var b strings.Builder
	for _, text := range o.steps() {
		fmt.Fprintf(&b, "# %s\n", text)
	}
	for _, v := range []object{
		{APIVersion: "v1", Kind: "Secret", Metadata: o.named(o.tokenSecret()), Type: "Opaque", StringData: map[string]string{tokenKey: o.Token}},
		{APIVersion: "v1", Kind: "Service", Metadata: o.named(o.Name), Spec: serviceSpec{
			ClusterIP: "None", NotReadyToo: true, Selector: map[string]string{jobLabel: o.Name},
			ServicePorts: []servicePort{{Name: "coordinator", Port: cluster.DefaultPort}},
		}},
		{APIVersion: "batch/v1", Kind: "Job", Metadata: o.named(o.Name), Spec: o.job()},
	} {
		text, err := yaml.MarshalWithOptions(v, yaml.IndentSequence(true))
		if err != nil {
			return "", err
		}
		b.WriteString("---\n")
		for line := range strings.Lines(string(text)) {
			b.WriteString(launchHarmless(line))
		}
	}
	return b.String(), nil
}

// launchHarmless returns a line of a manifest without characters that a terminal obeys. The YAML encoder leaves some of them as they are.
func launchHarmless(line string) string {
	if !strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return line
	}
	indent, value, item := strings.Cut(strings.TrimSuffix(line, "\n"), "- ")
	if item && strings.TrimSpace(indent) == "" && !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
		quoted, _ := json.Marshal(value) // a string can be encoded
		line = indent + "- " + string(quoted) + "\n"
	}
	return string(rundir.EscapeJSON([]byte(line)))
}

// steps returns how to go on with the manifests.
func (o *LaunchOptions) steps() []string {
	in := ""
	if o.Namespace != "" {
		in = " --namespace " + o.Namespace
	}
	pod := fmt.Sprintf("$(kubectl get pod%s -l %s=%s,%s=0 -o name | cut -d/ -f2)", in, jobLabel, o.Name, indexLabel)
	steps := []string{
		sayManifest.In(o.Lang, o.Ranks, o.Version),
		sayFollow.In(o.Lang) + fmt.Sprintf(": kubectl logs%s -f -c llmsweep %s", in, pod),
	}
	if o.Claim != "" {
		steps = append(steps, sayInClaim.In(o.Lang, o.Claim))
	} else {
		steps = append(steps, sayCopy.In(o.Lang)+fmt.Sprintf(": kubectl cp%s -c copy %s:%s runs", in, pod, runs))
	}
	return append(steps, sayDelete.In(o.Lang)+fmt.Sprintf(": kubectl delete%s job/%s service/%s secret/%s", in, o.Name, o.Name, o.tokenSecret()))
}

func (o *LaunchOptions) tokenSecret() string { return o.Name + "-token" }

func (o *LaunchOptions) named(name string) metadata {
	return metadata{Name: name, Namespace: o.Namespace, Labels: map[string]string{"app.kubernetes.io/name": "llmsweep", "app.kubernetes.io/instance": o.Name}}
}

// job returns the Job. A rank that ends is not started again: the others go on without it, and a new one could not join.
func (o *LaunchOptions) job() jobSpec {
	results := volume{Name: "runs", Empty: &struct{}{}}
	containers := []container{o.rank()}
	if o.Claim != "" {
		results = volume{Name: "runs", Claim: &claimedVolume{o.Claim}}
	} else {
		containers = append(containers, o.copier())
	}
	alike := map[string]string{jobLabel: o.Name}
	return jobSpec{
		CompletionMode: "Indexed", Completions: o.Ranks, Parallelism: o.Ranks, PerIndex: 0, Deadline: int(o.Time.Seconds()), TTL: keptFor,
		Template: podTemplate{
			Metadata: metadata{Labels: o.named("").Labels},
			Spec: podSpec{
				Subdomain: o.Name, RestartPolicy: "Never", MountToken: false,
				Security:   podSecurity{NonRoot: true, User: user, Group: user, FSGroup: user, Seccomp: seccomp{"RuntimeDefault"}},
				Spread:     []spread{{MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", Otherwise: "ScheduleAnyway", Selector: selector{alike}}},
				Containers: containers,
				Volumes:    []volume{results, {Name: "tmp", Empty: &struct{}{}}},
			},
		},
	}
}

// rank returns the container of a rank. It has no limit on processor time: a quota would stop it in mid-stage.
func (o *LaunchOptions) rank() container {
	memory := fmt.Sprintf("%dMi", o.memory(1))
	c := container{
		Name: "llmsweep", Image: o.Image, Ports: []containerPort{{"coordinator", cluster.DefaultPort}}, Security: confined(),
		Resources: resources{Requests: map[string]string{"cpu": fmt.Sprint(o.CPUs), "memory": memory}, Limits: map[string]string{"memory": memory}},
		Mounts:    []mount{{"runs", runs}, {"tmp", "/tmp"}},
		Env: []variable{
			{Name: cluster.EnvRanks, Value: fmt.Sprint(o.Ranks)},
			{Name: cluster.EnvCoordinator, Value: fmt.Sprintf("%s-0.%s:%d", o.Name, o.Name, cluster.DefaultPort)},
			{Name: cluster.EnvToken, From: &variableValue{secretKey{o.tokenSecret(), tokenKey}}},
		},
	}
	for _, s := range o.Line.Secrets {
		c.Env = append(c.Env, variable{Name: s.Variable, From: &variableValue{secretKey{o.Secret, s.key()}}})
	}
	for _, a := range o.Line.Args {
		c.Args = append(c.Args, a.kubernetes())
	}
	return c
}

// copier returns a container with the programs that kubectl cp needs: the image of llmsweep has none.
func (o *LaunchOptions) copier() container {
	small := map[string]string{"cpu": "10m", "memory": "32Mi"}
	return container{
		Name: "copy", Image: o.Copier, Command: []string{"sh", "-c", waitForCopy}, Security: confined(),
		Resources: resources{Requests: small, Limits: map[string]string{"memory": small["memory"]}},
		Mounts:    []mount{{"runs", runs}},
	}
}

func confined() containerSecurity {
	return containerSecurity{Escalation: false, ReadOnly: true, Rights: capabilities{[]string{"ALL"}}}
}

// kubernetes returns an argument as Kubernetes reads it, which replaces $(NAME) by the value of a variable, and $$ by $.
func (a LaunchArg) kubernetes() string {
	var b strings.Builder
	for _, p := range a {
		if p.Variable != "" {
			fmt.Fprintf(&b, "$(%s)", p.Variable)
			continue
		}
		b.WriteString(strings.ReplaceAll(p.Text, "$", "$$"))
	}
	return b.String()
}
