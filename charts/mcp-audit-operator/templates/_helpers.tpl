{{/* Labels of every object. */}}
{{- define "mcpaudit.labels" -}}
app.kubernetes.io/part-of: mcpaudit
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Labels of the manager's Pods that others select them by. They never change. */}}
{{- define "mcpaudit.selector" -}}
app.kubernetes.io/name: mcpaudit
app.kubernetes.io/component: manager
{{- end }}

{{/* The same of the gate's Pods. */}}
{{- define "mcpaudit.gateSelector" -}}
app.kubernetes.io/name: mcpaudit
app.kubernetes.io/component: gate
{{- end }}

{{/* Where Pods run, and as whom. Takes root, selector (the labels of the Pods, as text),
priorityClassName. */}}
{{- define "mcpaudit.pod" -}}
enableServiceLinks: false
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.topologySpreadConstraints }}
{{- $selector := dict "labelSelector" (dict "matchLabels" ($.selector | fromYaml)) }}
topologySpreadConstraints:
  {{- range . }}
  - {{- merge (deepCopy .) $selector | toYaml | nindent 4 }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/*
An object of files/ with the labels laid over it, and annotations if there are any.
Takes root, object (parsed), annotations.
*/}}
{{- define "mcpaudit.object" -}}
{{- $metadata := .object.metadata }}
{{- $_ := set $metadata "labels" (merge (include "mcpaudit.labels" .root | fromYaml) ($metadata.labels | default dict)) }}
{{- with .annotations }}
{{- $_ := set $metadata "annotations" (merge (deepCopy .) ($metadata.annotations | default dict)) }}
{{- end }}
---
{{ toYaml .object }}
{{- end }}

{{/* Every object of files/ whose path matches the pattern. Takes root, pattern, annotations. */}}
{{- define "mcpaudit.objects" -}}
{{- $ := . }}
{{- range $path, $content := .root.Files.Glob .pattern }}
{{ include "mcpaudit.object" (dict "root" $.root "object" (toString $content | fromYaml) "annotations" $.annotations) }}
{{- end }}
{{- end }}

{{/* A reference to an image. Takes root, image. */}}
{{- define "mcpaudit.image" -}}
{{- $name := printf "%s/%s" .root.Values.global.imageRegistry .image.repository }}
{{- if .image.digest }}
{{- printf "%s@%s" $name .image.digest }}
{{- else }}
{{- printf "%s:%s" $name (.image.tag | default .root.Chart.AppVersion) }}
{{- end }}
{{- end }}
